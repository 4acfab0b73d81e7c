import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension ScriptDomain {
  /// `moonbase.extensions`: the list of loaded extensions. Made at each access, since costs and standings change. The
  /// list and its tables are frozen.
  func describeExtensions() throws -> LuaValue {
    .table(try state.list(loadedExtensions.map(describe)).frozen())
  }

  /// An extension: `{ name, version, source, entities, functions, disabled_because, calls, seconds, instructions,
  /// errors }`.
  private func describe(_ loaded: LoadedExtension) throws -> LuaValue {
    var fields = fields(of: loaded.cost)
    fields["name"] = .text(loaded.name)
    fields["disabled_because"] = loaded.disabledBecause.map(LuaValue.text) ?? .nil
    fields["version"] = loaded.version.map(LuaValue.text) ?? .nil
    fields["source"] = .text(loaded.source)
    fields["entities"] = .table(try state.list(loaded.entities.map(LuaValue.text)).frozen())
    let functions = try loaded.functions.map { function in
      LuaValue.table(
        try state.table(self.fields(of: function.cost).merging(["name": .text(function.name)]) { $1 }).frozen())
    }
    fields["functions"] = .table(try state.list(functions).frozen())
    return .table(try state.table(fields).frozen())
  }

  /// The fields of a cost. `seconds` is the sum of the calls' times.
  private func fields(of cost: ExtensionProfile.Cost) -> [String: LuaValue] {
    [
      "calls": .integer(Int64(cost.calls)), "seconds": .number(cost.duration.seconds),
      "instructions": .integer(cost.instructions), "errors": .integer(Int64(cost.errors)),
    ]
  }
}
