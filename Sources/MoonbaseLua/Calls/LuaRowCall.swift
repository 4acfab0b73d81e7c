import MoonbaseLuaShim
package import MoonbasePlatform

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
private final class RowCallOwner {
  private let call: OpaquePointer
  private let reference: LuaReference

  init(_ call: OpaquePointer, of reference: LuaReference) { (self.call, self.reference) = (call, reference) }

  deinit { mbl_row_call_free(call) }
}

/// The calls of a state's functions within a step of a statement, as a single run.
package final class LuaSharedRun: CallScope {
  private let link: LuaLink
  private var open: (state: LuaState, run: LuaState.OpenRun)?

  /// A scope that has not begun.
  package init(of state: LuaState) { link = state.link }

  /// Begins a run of the state, unless the state's limits apply to each call.
  package func begin() {
    guard let state = link.state, let run = state.beginShared() else { return }
    open = (state, run)
  }

  package func end() {
    guard let (state, run) = open else { return }
    open = nil
    state.end(run)
  }
}
