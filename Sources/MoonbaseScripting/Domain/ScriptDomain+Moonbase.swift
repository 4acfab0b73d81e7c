public import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension ScriptDomain {
  /// Makes the `moonbase` table that every script of this domain sees.
  func installMoonbase() throws {
    try moonbase.set("null", .null)
    try moonbase.set("version", "1.0")
    try moonbase.set("terminal", .boolean(isatty(STDERR_FILENO) == 1))
    try moonbase.set("classes", .table(try classes.frozen()))
    let dates = LuaValue.table(try dates())
    try moonbase.set("date", dates)
    state.moduleHost["date"] = dates
    try moonbase.set("object", .table(try objectFunctions()))
    let types = types
    try define("decimal") { [unowned types] call in
      try call.return(LuaBox(try HostTypes.decimal(call, 0)), as: types.decimal)
    }
    try define("uuid") { [unowned types] call in
      guard !call.isNil(0) else { return try call.return(LuaBox(UUID()), as: types.uuid) }
      guard let uuid = UUID(uuidString: try call.text(0)) else { throw call.argumentError(0, "no UUID") }
      try call.return(LuaBox(uuid), as: types.uuid)
    }
    try define("uri") { [unowned types] call in
      guard let uri = URL(string: try call.text(0)) else { throw call.argumentError(0, "no URI") }
      try call.return(LuaBox(uri), as: types.uri)
    }
    try define("progress") { [unowned types] call in
      let total = call.isNil(0) ? nil : try call.integer(0)
      let label = call.isNil(1) ? "progress" : try call.text(1)
      let box = ProgressBox(total: total, label: label, isVisible: isatty(STDERR_FILENO) == 1)
      try call.return(box, as: types.progress)
    }
    let metatable = try state.table()
    try metatable.set(
      "__index", try state.function { [unowned types] call in try call.return(types.home().absent(try call.value(1))) })
    try moonbase.setMetatable(metatable)
    try state.setGlobal("moonbase", .table(try moonbase.frozen()))
  }

  /// Fields of `moonbase` that are nil where the host gives them no value.
  private static let optionalFields = ["context", "model", "open", "reload"]

  /// A field of `moonbase` that nobody set: the model is described when it is first asked for, a misspelt name is a mistake.
  private func absent(_ key: LuaValue) throws -> LuaValue {
    let name = key.textValue ?? "a \(key.typeName)"
    if name == "model", let model {
      let description = try describe(model)
      try moonbase.set(name, description)
      return description
    }
    if Self.optionalFields.contains(name) { return .nil }
    let known = try moonbase.pairs.compactMap(\.key.textValue).sorted() + Self.optionalFields
    throw ScriptError(.invalidRequest, "moonbase has no '\(name)'\(suggestion(for: name, among: known))")
  }

  /// Adds a function to the `moonbase` table.
  func define(_ name: String, _ body: @escaping (inout LuaCall) throws -> Void) throws {
    try moonbase.set(name, try state.function(body))
  }

  private func dates() throws -> LuaTable {
    let table = try state.table()
    let types = types
    func constructor(_ name: String, _ body: @escaping (borrowing LuaCall) throws -> Date) throws {
      try table.set(
        name, try state.function { [unowned types] call in try call.return(LuaBox(try body(call)), as: types.date) })
    }
    try constructor("unix") { Date(timeIntervalSince1970: try HostTypes.seconds($0)) }
    try constructor("reference") { Date(timeIntervalSinceReferenceDate: try HostTypes.seconds($0)) }
    if state.preset != .pure { try constructor("now") { _ in Date() } }
    try table.set(
      "parse",
      try state.function { [unowned types] call in
        let text = try call.text(0)
        guard let date = ISODate.parse(text) else {
          call.returnNil()
          let error = ScriptError(
            .invalidValue,
            "'\(text.prefix(60))' is no date of the forms 2024-02-29, 2024-02-29T12:30 and 2024-02-29T12:30:15.250+01:00"
          )
          return try call.return(types.home().luaError(error) ?? .text(error.description))
        }
        try call.return(LuaBox(date), as: types.date)
      })
    return try table.frozen()
  }

  private func objectFunctions() throws -> LuaTable {
    let table = try state.table()
    for (name, body) in types.objectMethods {
      try table.set(
        name,
        try state.function { call in
          let object = try call.object(0, as: ManagedObject.self, name: "object")
          try call.withoutFirst { call in try body(object, &call) }
        })
    }
    return try table.frozen()
  }

  /// Makes a context known to scripts as `moonbase.context`.
  public func setContext(_ context: ManagedObjectContext) throws {
    contexts.append(context)
    model = context.model
    try moonbase.set("context", .object(types.context.handle(context)))
  }
}
