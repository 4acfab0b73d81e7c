import MoonbaseModel

extension ManagedObject {
  /// What an object has of its own, apart from destinations.
  struct Memo {
    let state: State
    let snapshot: Snapshot?
    let live: ContiguousArray<Value?>
    let changed: SlotSet
    let caches: SlotMap<Cached>
    let delayed: SlotMap<Value>
  }

  /// Something of the object is about to change: notes what it is like, once for each savepoint.
  @inline(__always)
  final func willChange() {
    if let context, context.journal.current != savepoint { note(in: context) }
  }

  @inline(never)  // most changes are in no savepoint, or not the first one in it
  private func note(in context: ManagedObjectContext) {
    // What awake-from-fetch sets belongs to the values that are read, and goes when they go.
    guard !state.contains(.awaking) else { return }
    markNoted(in: context.journal.current)
    guard context.journal.isActive else { return }
    let memo = Memo(
      state: state, snapshot: snapshot, live: live, changed: changed, caches: caches, delayed: delayed)
    context.note(.changed(self, memo))
  }
}
