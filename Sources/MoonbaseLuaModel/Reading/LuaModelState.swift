import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A Lua state for running a model file: preset `pure`, with the value constructors of `moonbase`.
///
/// The state has `moonbase.decimal`, `moonbase.uuid`, `moonbase.uri` and `moonbase.date`, but no
/// stores and no current time. The object owns the state and must live as long as its tables are
/// used.
final class LuaModelState {
  /// The Lua state.
  let state: LuaState
  /// The types of values, which the state retains as its companion.
  private let types: LuaValueTypes

  /// A state with limits. Unknown names in `moonbase` are errors with a suggestion.
  init(limits: LuaLimits) throws {
    let state = try LuaState(preset: .pure, limits: limits)
    let types = LuaValueTypes(state)
    (self.state, self.types) = (state, types)
    state.companion = types
    let moonbase = try state.table(["null": .null, "version": .text(MoonbaseVersion.text)])
    let dates = LuaValue.table(try types.dates())
    (state.moduleHost["date"], state.moduleHost["open_date"]) = (dates, dates)
    try types.defineConstructors(in: moonbase)
    let metatable = try state.table()
    try metatable.set(
      "__index",
      to: try state.function { [unowned state] call in
        let key = try call.value(1)
        let name = key.textValue?.asName ?? key.typePhrase
        if name == "date" {
          return try call.return(state.load("return require 'moonbase.date'", name: "moonbase").first())
        }
        let known = try moonbase.pairs.compactMap(\.key.textValue).sorted() + ["date"]
        throw ModelError(
          .unknownName, message: "moonbase has no '\(name)' in a model file\(suggestion(for: name, among: known))")
      })
    try moonbase.setMetatable(metatable)
    try state.setGlobal("moonbase", to: .table(try moonbase.frozen()))
  }

  /// A Lua value other than a table, in its natural form.
  ///
  /// Throws `.invalidValue` for functions and other values that no model can hold.
  static func value(from lua: LuaValue) throws -> Value {
    switch lua {
    case .nil, .null: .null
    case .boolean(let truth): .bool(truth)
    case .integer(let number): .int(number)
    case .number(let number): .double(number)
    case .string(let string): string.text.map(Value.string) ?? .data(Data(string.bytes))
    case .object(let object) where LuaValueTypes.value(of: object) != nil: LuaValueTypes.value(of: object) ?? .null
    case .object, .table, .function, .thread, .userdata:
      throw ModelError(.invalidValue, message: "\(lua.typePhrase) cannot be stored")
    }
  }
}
