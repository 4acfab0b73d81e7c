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
      { mbl_row_call($0, $1, $2, $3) }, context: UnsafeMutableRawPointer(call), owner: RowCallOwner(call, of: reference)
    )
  }
}

/// What a call for each row needs as long as it may be made.
private final class RowCallOwner {
  private let call: OpaquePointer
  private let reference: LuaReference

  init(_ call: OpaquePointer, of reference: LuaReference) { (self.call, self.reference) = (call, reference) }

  deinit { mbl_row_call_free(call) }
}
