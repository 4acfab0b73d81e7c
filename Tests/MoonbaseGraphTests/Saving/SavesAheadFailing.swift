import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

extension StoreBench {
  /// A context that saves in the background, even on one core.
  func contextSavingAhead() -> ManagedObjectContext {
    let context = context()
    context.hostSettings.savesAhead = true
    return context
  }
}

extension ManagedObjectContext {
  /// Saves the changes of `change` in the background repeatedly, while one call of the store fails: first the first
  /// call, then the second, until no call is left to fail.
  ///
  /// After each failure `checkChanges` checks that everything is unchanged. Then the changes are rolled back or saved
  /// in turn, and `checkOutcome` receives whether they are saved. All three receive the number of calls that succeeded.
  func savesAhead(
    failingIn store: FailingStore, _ change: (Int) throws -> Void, checkChanges: (Int) throws -> Void,
    checkOutcome: (Int, _ isSaved: Bool) throws -> Void
  ) throws {
    for calls in 0... {
      try change(calls)
      store.fail(onceAfterCalls: calls)
      var hasFailedAtOnce = false
      do { try saveAhead() } catch { hasFailedAtOnce = true }
      if !hasFailedAtOnce { #expect(writing.pendingSave != nil, "\(calls)") }
      waitForPendingSave()
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
