import MoonbasePlatform

/// A switch that hooks of a domain look at.
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

/// What hooks of tests throw.
struct Broken: Error {}
