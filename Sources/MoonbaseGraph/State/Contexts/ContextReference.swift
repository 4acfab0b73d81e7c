/// A reference to a context that does not keep it alive. Confined to the context's executor.
///
/// A weak reference would slow down every use of the context: the reference counts of an object with weak references
/// lie in a side table.
package final class ContextReference {
  // The context clears this in its `deinit`. No access lasts while other code runs.
  @exclusivity(unchecked) private var unretained: Unmanaged<ManagedObjectContext>?

  init(_ context: ManagedObjectContext) { unretained = .passUnretained(context) }

  /// The context; nil once it is gone.
  package var context: ManagedObjectContext? { unretained?.takeUnretainedValue() }

  /// Whether the context is gone; retains nothing.
  package var isGone: Bool { unretained == nil }

  /// The number of times that the context released all its objects; nil if the context is gone.
  var resetCount: Int? { unretained.map { $0._withUnsafeGuaranteedRef { $0.counters.resetCount } } }

  /// Clears the reference; called by the context's `deinit`.
  func clear() { unretained = nil }
}
