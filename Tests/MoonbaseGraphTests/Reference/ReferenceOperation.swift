import MoonbaseTestSupport

/// One operation of a sequence. Its numbers choose among what is there, whatever that is, so that a sequence can be shortened.
struct ReferenceOperation: Sendable {
  enum Kind: CaseIterable, Sendable {
    case insert, set, primitiveSet, relate, assign, order, delete
    case read, fetch, endEvent
    case undo, redo, undoWithoutStore, beginGroup, endGroup, forgetGroups
    case save, failCommit, failWillSave, failInsertion, failDeletion, failTransaction, rollback
    case refresh, refreshAll, giveUp, reopen
    // The saves of child contexts have their place here.
    case merge, conflict, conflictOfDeletion, uniqueConflict

    /// How often it comes, among others.
    var weight: Int {
      switch self {
      case .relate: 14
      case .set, .order, .undo: 7
      case .insert, .assign, .delete, .redo, .save: 5
      case .endEvent, .fetch, .read, .merge, .conflict: 3
      case .primitiveSet, .failCommit, .failWillSave, .failInsertion, .failDeletion, .refresh, .refreshAll: 2
      case .uniqueConflict, .conflictOfDeletion, .undoWithoutStore, .failTransaction, .giveUp, .forgetGroups: 2
      case .beginGroup, .endGroup, .rollback, .reopen: 1
      }
    }
  }

  let kind: Kind
  let a, b, c: Int

  private static let deck = Kind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

  /// The operations of a seed.
  static func sequence(_ seed: Int, count: Int) -> [ReferenceOperation] {
    var random = SplitMix(UInt64(truncatingIfNeeded: seed))
    return (0..<count).map { _ in
      ReferenceOperation(
        kind: deck[random.next(deck.count)], a: random.next(1 << 20), b: random.next(1 << 20), c: random.next(1 << 20))
    }
  }
}
