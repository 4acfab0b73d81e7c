/// A function that an upper layer sets and a lower layer calls, on any thread.
///
/// The function is in a struct, because a bare function in a generic lock would be wrapped again at each access, and
/// each call would pass all wrappers.
final class HostHook<Function: Sendable>: Sendable {
  private struct Holder: Sendable {
    var function: Function?
  }

  private let holder = Lock(Holder())

  /// The function; nil before it is set.
  var function: Function? { holder.withLock { $0.function } }

  func set(_ function: Function) { holder.withLock { $0.function = function } }
}
