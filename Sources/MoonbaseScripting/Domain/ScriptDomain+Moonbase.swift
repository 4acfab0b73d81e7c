public import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension ScriptDomain {
  /// Makes the `moonbase` table that the scripts of this domain see.
  ///
  /// Called once by `init`. Fields that cost time or memory (`model`, `date`, `extensions`) are made on first access;
  /// `open`, `background`, `parallel` and `context` are added by the host only if scripts may use them. The global is a
  /// frozen table whose contents this domain can still change.
  func installMoonbase() throws {
    try moonbase.set("null", to: .null)
    try moonbase.set("version", to: .text(MoonbaseVersion.text))
    try moonbase.set("terminal", to: .boolean(isatty(STDERR_FILENO) == 1))
    try moonbase.set("classes", to: .table(try classes.frozen()))
    let dates = LuaValue.table(try types.values.dates())
    (state.moduleHost["date"], state.moduleHost["open_date"]) = (dates, dates)
    let isOfStore = try state.function { call in
      call.return(ErrorCode(rawValue: Int(truncatingIfNeeded: try call.integer(0))).isOfStore)
    }
    state.moduleHost["is_of_store"] = isOfStore
    try state.letPropertiesBeCalled(HostTypes.namesOfPropertiesOfObjects)
    try moonbase.set("object", to: .table(try objectFunctions()))
    let types = types
    try types.values.defineConstructors(in: moonbase)
    try installLog()
    try define("copy", upTo: 1) { [unowned types] call in
      guard call.count > 0 else { throw call.typeError(0, expected: "value") }
      try call.return(types.openDomain().copy(of: call.value(0)))
    }
    try define("progress", upTo: 2) { [unowned types] call in
      let total = call.isNil(0) ? nil : try call.integer(0)
      let label = call.isNil(1) ? "progress" : try call.text(1)
      let job = try types.openDomain().job
      let box = ProgressBox(total: total, label: label, isVisible: job == nil && isatty(STDERR_FILENO) == 1, of: job)
      try call.return(box, as: types.progress)
    }
    let metatable = try state.table()
    try metatable.set(
      "__index",
      to: try state.function { [unowned types] call in try call.return(types.openDomain().absent(try call.value(1))) })
    try metatable.set(
      "__call",
      to: .function(try state.notCallable("moonbase", advice: "call one of its functions, such as moonbase.open")))
    try moonbase.setMetatable(metatable)
    try state.setGlobal("moonbase", to: .table(try moonbase.frozen()))
  }

  /// Fields of `moonbase` that may be nil. Reading them gives nil instead of the error about an unknown name.
  private static let optionalFields = ["context", "model", "open", "reload"]

  /// Fields of `moonbase` that are made on first access.
  static let namesMadeLater = ["model", "date", "extensions"]

  /// The value of a field of `moonbase` that is not set. Makes the fields that are made on first access, and throws for
  /// unknown names.
  func absentField(_ key: LuaValue) throws -> LuaValue {
    if case let known = try moonbase.get(key), !known.isNothing { return known }
    return try absent(key)
  }

  /// The value of a missing field, for the metatable's `__index` and for `absentField(_:)`.
  private func absent(_ key: LuaValue) throws -> LuaValue {
    let name = key.textValue?.asName ?? key.typePhrase
    if name == "model", let model {
      let description = try describe(model)
      try moonbase.set(name, to: description)
      return description
    }
    if name == "date" { return try loadDates() }
    if name == "extensions" { return try describeExtensions() }
    if Self.optionalFields.contains(name) {
      if name == "context" || name == "model" { foundNoContext = true }
      return .nil
    }
    let known = try moonbase.pairs.compactMap(\.key.textValue).sorted() + Self.optionalFields + ["date", "extensions"]
    let isModule = LuaFiles.modules.contains("moonbase.\(name)")
    let advice = isModule ? "; write require(\"moonbase.\(name)\")" : suggestion(for: name, among: known)
    throw ScriptError(.unknownName, message: "moonbase has no '\(name)'\(advice)")
  }

  /// Adds a function to the `moonbase` table, with at most `count` arguments.
  ///
  /// A call with `:` instead of `.` passes the table itself; the error then says so.
  func define(_ name: String, upTo count: Int, _ body: @escaping (inout LuaCall) throws -> Void) throws {
    let types = types
    try moonbase.set(
      name,
      to: try state.function(named: name) { [unowned types] call in
        do {
          if call.count > count { try call.refuse(from: count) }
          try body(&call)
        } catch {
          guard case .table(let first) = try call.value(0), try types.state.isMoonbase(first) else {
            throw error
          }
          throw ScriptError(.invalidRequest, message: "moonbase.\(name) is no method: call it with '.', not with ':'")
        }
      })
  }

  /// Loads `moonbase.date`, the date module, on first access.
  func loadDates() throws -> LuaValue {
    let module = try state.load("return require 'moonbase.date'", name: "moonbase").first()
    try moonbase.set("date", to: module)
    return module
  }

  /// The table `moonbase.object`: the methods of objects as functions, for names that a property of the entity hides.
  private func objectFunctions() throws -> LuaTable {
    let table = try state.table()
    for method in types.objectMethods {
      try table.set(method.name, to: try function(method))
    }
    let types = types
    try state.describe(
      table, as: "moonbase.object", call: "write moonbase.object.id(object), for example",
      others: { [unowned types] in try types.openDomain().extensionMethod($0) })
    return try table.frozen()
  }

  /// A method of objects as a function with the object as first argument. For example `moonbase.object.id(object)` for
  /// `object:id()`.
  func function(_ method: HostTypes.ObjectMethod) throws -> LuaValue {
    try state.function(named: method.name) { call in
      let object = try call.object(0, as: ManagedObject.self, name: "object")
      try call.refuse(from: method.count + 1)
      try call.withoutFirst { call in try method.body(object, &call) }
    }
  }

  /// Makes a context available to scripts as `moonbase.context`.
  ///
  /// Call this once per domain. The context's model becomes `moonbase.model`.
  public func setContext(_ context: ManagedObjectContext) throws {
    contexts.add(context, .given)
    model = context.model
    try moonbase.set("context", to: .object(types.context.handle(context)))
  }
}

extension LuaValue {
  fileprivate var isNothing: Bool { if case .nil = self { true } else { false } }
}
