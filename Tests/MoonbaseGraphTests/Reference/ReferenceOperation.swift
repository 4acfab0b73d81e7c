import MoonbaseTestSupport

/// An operation of a sequence. Its numbers select among the existing objects, so a sequence can be shortened.
struct ReferenceOperation: Sendable {
  enum Kind: CaseIterable, Sendable {
    case insert, set, primitiveSet, relate, assign, order, delete
    case read, fetch, endEvent
    case undo, redo, undoWithoutStore, beginGroup, endGroup, forgetGroups
    case save, failCommit, failWillSave, failInsertion, failDeletion, failTransaction, rollback
    case refresh, refreshAll, giveUp, reopen
    case merge, conflict, conflictOfDeletion, uniqueConflict
    case keep, denyDeletion, childSave, childConflict, changeInHook
    case setByDoor, relateByDoor, failSavepoint

    /// The kinds that existed when the sequences kept by their seeds failed.
    static let earlier = allCases.filter {
      ![
        .keep, .denyDeletion, .childSave, .childConflict, .changeInHook, .setByDoor, .relateByDoor, .failSavepoint,
      ].contains($0)
    }

    /// The kinds that use plain values only, so that objects have nothing but their row.
    static let plain: [Kind] = [
      .insert, .setByDoor, .failSavepoint, .failTransaction, .failCommit, .undo, .redo, .endEvent, .save, .rollback,
      .refresh,
      .refreshAll, .giveUp, .reopen, .merge, .conflict,
    ]

    /// The relative frequency of a kind.
    var weight: Int {
      switch self {
      case .relate, .setByDoor: 14
      case .set, .order, .undo: 7
      case .insert, .assign, .delete, .redo, .save, .relateByDoor, .failSavepoint: 5
      case .childSave, .changeInHook: 4
      case .endEvent, .fetch, .read, .merge, .conflict, .keep: 3
      case .primitiveSet, .failCommit, .failWillSave, .failInsertion, .failDeletion, .refresh, .refreshAll: 2
      case .uniqueConflict, .conflictOfDeletion, .undoWithoutStore, .failTransaction, .giveUp, .forgetGroups: 2
      case .beginGroup, .endGroup, .rollback, .reopen, .denyDeletion, .childConflict: 1
      }
    }
  }

  let kind: Kind
  let a, b, c: Int

  /// The operations of a seed, among some kinds.
  static func sequence(_ seed: Int, count: Int, of kinds: [Kind]) -> [ReferenceOperation] {
    let deck = kinds.flatMap { Array(repeating: $0, count: $0.weight) }
    var random = SplitMix(UInt64(truncatingIfNeeded: seed))
    return (0..<count).map { _ in
      ReferenceOperation(
        kind: deck[random.next(deck.count)], a: random.next(1 << 20), b: random.next(1 << 20), c: random.next(1 << 20))
    }
  }
}
