import MoonbaseLuaShim
package import MoonbasePlatform

extension LuaFunction {
  /// The function as one that a store calls for each row; nil without memory for it. It is called within a run.
  package var rowCall: RowCall? {
    assert(MemoryLayout<PlainCell>.size == MemoryLayout<MBLValue>.size)
    assert(
      PlainCell.Kind.bytes.rawValue == MBLTag.string.rawValue && PlainCell.Kind.none.rawValue == MBLTag.nil.rawValue)
    guard let call = mbl_row_call_make(reference.link.home, reference.index) else { return nil }
    return RowCall(
      mbl_row_call, context: UnsafeMutableRawPointer(call), owner: RowCallOwner(call, of: reference))
  }
}

/// What a call for each row needs as long as it may be made.
private final class RowCallOwner {
  private let call: OpaquePointer
  private let reference: LuaReference

  init(_ call: OpaquePointer, of reference: LuaReference) { (self.call, self.reference) = (call, reference) }

  deinit { mbl_row_call_free(call) }
}

/// The calls of functions of one state within one step of a statement, as one run.
package final class LuaSharedRun: CallScope {
  private let link: LuaLink
  private var open: (state: LuaState, run: LuaState.OpenRun)?

  /// Nothing has begun yet.
  package init(of state: LuaState) { link = state.link }

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
