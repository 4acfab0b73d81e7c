/// A function that an upper layer sets and a lower one calls, on any thread.
///
/// In a struct of its own: a function that lies bare in a generic lock is wrapped anew, and put back so, at each look, and each
/// call goes through all the wrappings.
final class HostHook<Function: Sendable>: Sendable {
  private struct Holder: Sendable {
    var function: Function?
  }

  private let holder = Lock(Holder())

  /// The function; nil until it is set.
  var function: Function? { holder.withLock { $0.function } }

  func set(_ function: Function) { holder.withLock { $0.function = function } }
}
