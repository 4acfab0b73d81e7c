import MoonbaseLuaShim

/// A metatable for lists and maps that scripts must not change, with the error text for a change.
///
/// ```swift
/// let freezer = try state.freezer(saying: "the settings cannot be changed here")
/// let list = try state.list([1, 2]).frozen(by: freezer)
/// ```
package struct LuaFreezer {
  let metatable: LuaTable
}

extension LuaState {
  /// Makes a freezer; a script that changes a value gets `refusal` as its error.
  package func freezer(saying refusal: String) throws(LuaError) -> LuaFreezer {
    let buffer = takeBuffer(1)
    defer { giveBack(buffer) }
    try buffer.set(0, to: .text(refusal), for: self)
    buffer.seal(1)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    return LuaFreezer(metatable: LuaTable(reference: try keep(mbl_value_metatable(raw, buffer.values))))
  }
}
