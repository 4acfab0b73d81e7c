import MoonbasePlatform

/// Waits for a pipe or a terminal, and checks periodically whether the run must end, because a signal does not end a
/// read.
///
/// An import hands a value of this type to its sources. A file needs none, because reading a file
/// does not block.
package struct InputWait: Sendable {
  /// The interval between two checks, in milliseconds.
  private static let pause: Int32 = 50
  /// Whether the run must end, as after a signal.
  private let isEnding: @Sendable () -> Bool

  /// Waits until `isEnding` returns true.
  package init(_ isEnding: @escaping @Sendable () -> Bool) { self.isEnding = isEnding }

  /// Throws `InputError.interrupted` if the run must end before data is available.
  func wait(for descriptor: Int32) throws {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&request, 1, Self.pause)
      if count > 0 || count < 0 && errno != EINTR { return }
      if isEnding() { throw InputError.interrupted }
    }
  }
}
