import MoonbaseLuaShim
package import MoonbasePlatform

/// For functions that SQLite calls for each row, such as derived attributes.
extension LuaFunction {
  /// The function in the form that a store calls for each row; nil if memory is exhausted. Must be called within a run.
  package var rowCall: RowCall? {
    assert(MemoryLayout<PlainCell>.size == MemoryLayout<MBLValue>.size)
    assert(
      PlainCell.Kind.bytes.rawValue == MBLTag.string.rawValue && PlainCell.Kind.none.rawValue == MBLTag.nil.rawValue)
    guard let call = mbl_row_call_make(reference.link.home, reference.index) else { return nil }
    return RowCall(
      mbl_row_call, context: UnsafeMutableRawPointer(call), owner: RowCallOwner(call, of: reference))
  }
}

/// The retained parts of a row call.
///
/// Owned by a `RowCall`, which a statement keeps.
private final class RowCallOwner {
  /// The memory of the call in C.
  private let call: OpaquePointer
  /// The function.
  private let reference: LuaReference

  /// Takes over `call`, which is freed with the owner.
  init(_ call: OpaquePointer, of reference: LuaReference) { (self.call, self.reference) = (call, reference) }

  deinit { mbl_row_call_free(call) }
}

/// The calls of a state's functions within a step of a statement, as a single run.
///
/// Without a shared run, each call would begin and end a run of its own. `begin` and `end` are called in pairs by the
/// store, on the thread of the statement. Limits of time and instructions then count for the step as a whole.
package final class LuaSharedRun: CallScope {
  /// Does not keep the state alive.
  private let link: LuaLink
  /// The run in progress; nil outside of steps.
  private var open: (state: LuaState, run: LuaState.OpenRun)?

  /// A scope that has not begun.
  package init(of state: LuaState) { link = state.link }

  /// Begins a run of the state, unless the state's limits apply to each call.
  package func begin() {
    guard let state = link.state, let run = state.beginShared() else { return }
    open = (state, run)
  }

  /// Ends the run that `begin` began, if any.
  package func end() {
    guard let (state, run) = open else { return }
    open = nil
    state.end(run)
  }
}
