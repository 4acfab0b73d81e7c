import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

extension StoreBench {
  /// A context that saves ahead, on one core too.
  func contextSavingAhead() -> ManagedObjectContext {
    let context = context()
    context.savesAhead = true
    return context
  }
}

extension ManagedObjectContext {
  /// Saves ahead what `change` did, again and again, while one call of the store fails: the first, then the second, and so on until none
  /// is left to fail.
  ///
  /// After each failure `checkChanges` says that everything is as it was before. Then the changes are given up and saved in turn, and
  /// `checkOutcome` is told whether they are saved. All three are told how many calls succeeded.
  func savesAhead(
    failingIn store: FailingStore, _ change: (Int) throws -> Void, checkChanges: (Int) throws -> Void,
    checkOutcome: (Int, _ isSaved: Bool) throws -> Void
  ) throws {
    for calls in 0... {
      try change(calls)
      store.fail(onceAfterCalls: calls)
      var hasFailedAtOnce = false
      do { try saveAhead() } catch { hasFailedAtOnce = true }
      if !hasFailedAtOnce { #expect(pendingSave != nil, "\(calls)") }
      settle()
      guard !store.isToFail else {
        store.fail(onceAfterCalls: nil)
        #expect(calls > 3)
        try finishSave()
        return try checkOutcome(calls, true)
      }
      try checkChanges(calls)
      #expect(brokenInvariants() == [], "\(calls)")
      if hasFailedAtOnce {
        #expect(throws: Never.self) { try finishSave() }
      } else {
        #expect(throws: GraphError.self) { try saveAhead() }
      }
      let isSaved = calls % 2 == 1
      if isSaved {
        try saveAhead()
        try finishSave()
      } else {
        try rollback()
      }
      #expect(!hasChanges && brokenInvariants() == [], "\(calls)")
      try checkOutcome(calls, isSaved)
    }
  }
}
