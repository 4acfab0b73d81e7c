package import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Constructors of values without a Lua type. `moonbase.uuid(text)` raises an error for an invalid text,
/// `moonbase.uuid.parse(text)` returns nil and an error.
extension LuaValueTypes {
  /// Adds the constructors to the table `moonbase`.
  ///
  /// The constructors are `decimal`, `uuid` and `uri`, each a frozen table that can be called.
  /// `dates()` makes the table of dates.
  package func defineConstructors(in moonbase: LuaTable) throws {
    let type = decimal
    try define("decimal", in: moonbase, as: \.decimal, form: "decimal such as 12.50", parse: Decimal.init(stored:)) {
      [unowned type] call in
      try Self.decimal(call, at: 0, type)
    }
    try define(
      "uuid", in: moonbase, as: \.uuid, form: "UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
      parse: UUID.init(literal:)
    ) {
      call in
      if call.isNil(0) { return UUID.random() }
      guard let uuid = UUID(literal: try call.name(0)) else {
        throw call.argumentError(0, problem: "a UUID such as \(UUID.random().uuidString) is expected")
      }
      return uuid
    }
    try define("uri", in: moonbase, as: \.uri, form: "URI such as https://example.org/a", parse: URL.init(literal:)) {
      call in
      guard let uri = URL(literal: try call.text(0)) else {
        throw call.argumentError(0, problem: "a URI such as https://example.org/a is expected")
      }
      return uri
    }
  }

  /// Defines a constructor `moonbase.NAME(...)` with a function `parse`.
  ///
  /// - Parameters:
  ///   - name: The name in the table.
  ///   - type: The type of the values.
  ///   - form: The expected form, for errors of `parse`.
  ///   - parse: The value of a text; nil for another form.
  ///   - make: The value of a call's arguments.
  private func define<T>(
    _ name: String, in moonbase: LuaTable, as type: KeyPath<LuaValueTypes, LuaValueType<T>>, form: String,
    parse: @escaping (String) -> T?,
    make: @escaping (borrowing LuaCall) throws -> T
  ) throws {
    let table = try state.table()
    try table.set("parse", to: parser(as: type, form: form, parse))
    try state.describe(table, as: "moonbase.\(name)", constructor: constructor(name, as: type, make))
    try moonbase.set(name, to: .table(try table.frozen()))
  }

  /// The function that is called with a table's call: the table is its first argument.
  private func constructor<T>(
    _ name: String, as type: KeyPath<LuaValueTypes, LuaValueType<T>>,
    _ make: @escaping (borrowing LuaCall) throws -> T
  ) throws -> LuaFunction {
    return try state.makeCallOfTable(named: name) { [unowned self] call in
      if case .table(let first) = try call.value(1), try state.isMoonbase(first) {
        throw ModelError(.invalidRequest, message: "moonbase.\(name) is no method: call it with '.', not with ':'")
      }
      try call.withoutFirst { call in
        try call.refuse(from: 1)
        try call.return(try make(call), as: self[keyPath: type])
      }
    }
  }

  /// The function `parse`, which returns nil and an error for a text of another form.
  private func parser<T>(
    as type: KeyPath<LuaValueTypes, LuaValueType<T>>, form: String, _ parse: @escaping (String) -> T?
  ) throws -> LuaValue {
    try state.function(named: "parse") { [unowned self] call in
      let text = try call.text(0)
      try call.refuse(from: 1)
      if let value = parse(text) { return try call.return(value, as: self[keyPath: type]) }
      call.returnNil()
      let error = ModelError(.malformedText, message: "'\(text.prefix(60))' is no \(form)")
      try call.return(state.errorMapper?(error, state) ?? .text(error.description))
    }
  }

  // MARK: Dates

  /// The forms of dates, for messages.
  private static let formOfDates = "date of the forms 2024-02-29, 2024-02-29T12:30 and 2024-02-29T12:30:15.250+01:00"

  /// Basic functions of dates. The module `moonbase.date` adds the others to this table when it is loaded.
  ///
  /// The functions are `unix`, `reference`, `now` and `parse`; a pure state has no `now`. A call of
  /// the table parses a text.
  package func dates() throws -> LuaTable {
    let table = try state.table()
    func make(_ name: String, _ body: @escaping (borrowing LuaCall) throws -> Date) throws {
      try table.set(
        name,
        to: try state.function(named: name) { [unowned self] call in
          try call.refuse(from: name == "now" ? 0 : 1)
          try call.return(try body(call), as: date)
        })
    }
    try make("unix") { Date(timeIntervalSince1970: try Self.seconds($0)) }
    try make("reference") { Date(timeIntervalSinceReferenceDate: try Self.seconds($0)) }
    if state.preset != .pure { try make("now") { _ in Date() } }
    try table.set("parse", to: parser(as: \.date, form: Self.formOfDates, ISODate.parse))
    let constructor = try constructor("date", as: \.date) { call in
      let text = try call.text(0)
      guard let date = ISODate.parse(text) else {
        throw call.argumentError(0, problem: "'\(text.prefix(60))' is no \(Self.formOfDates)")
      }
      return date
    }
    try state.describe(table, as: "moonbase.date", constructor: constructor)
    return table
  }
}
