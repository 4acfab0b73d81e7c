import MoonbaseLuaShim

/// A metatable for read-only lists and maps, with the error text for changes.
///
/// ```swift
/// let freezer = try state.freezer(saying: "the settings cannot be changed here")
/// let list = try state.list([1, 2]).frozen(by: freezer)
/// ```
package struct LuaFreezer {
  /// The metatable that refuses changes.
  let metatable: LuaTable
}

/// Freezing with a message.
extension LuaState {
  /// Makes a freezer. `refusal` is the error that a script gets when it changes a value. Values of one freezer share
  /// the metatable.
  package func freezer(saying refusal: String) throws(LuaError) -> LuaFreezer {
    let buffer = acquireBuffer(1)
    defer { giveBack(buffer) }
    try buffer.set(0, to: .text(refusal), for: self)
    buffer.seal(1)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    return LuaFreezer(metatable: LuaTable(reference: try keep(mbl_value_metatable(raw, buffer.values))))
  }
}
