import MoonbasePlatform

/// A number that hooks of a test read.
final class Switch: Sendable {
  private let state = Lock(0)

  init(_ value: Int = 0) { self.value = value }

  var value: Int {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  /// Throws as long as the value is not 0.
  func failIfOn() throws { if value != 0 { throw Broken() } }
}

/// The error that hooks of tests throw.
struct Broken: Error {}
