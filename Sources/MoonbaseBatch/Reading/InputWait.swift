import MoonbasePlatform

/// Waits for what a pipe or a terminal gives, and looks now and then whether all is to end: a signal does not end a read by itself.
package struct InputWait: Sendable {
  private static let pause: Int32 = 50
  private let isEnding: @Sendable () -> Bool

  package init(_ isEnding: @escaping @Sendable () -> Bool) { self.isEnding = isEnding }

  /// Throws `InputError.interrupted` where all is to end before there is something to read.
  func wait(for descriptor: Int32) throws {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&request, 1, Self.pause)
      if count > 0 || count < 0 && errno != EINTR { return }
      if isEnding() { throw InputError.interrupted }
    }
  }
}
