import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Prints the values of inputs.
///
/// Objects and requests become tables with `RowPrinter`, and all other values become texts with
/// `LuaValueText`. `Repl` owns it.
final class ReplOutput {
  /// The maximum number of objects or rows of a list that are shown.
  var greatestCount = 40
  /// The Lua state of the values.
  private let domain: ScriptDomain
  /// The format of tables.
  private let form = OutputForm(hasShortIDs: true)
  /// The current width of the terminal.
  private var width: Int { TerminalWidth.columns }

  /// Creates the output for a prompt.
  ///
  /// - Parameter domain: The Lua state of the values.
  init(_ domain: ScriptDomain) { self.domain = domain }

  /// Shows values. Plain values are shown on one line, as in `print`.
  ///
  /// - Parameter values: The results of an input.
  /// - Throws: The errors of reading objects, and of a limit or an interruption.
  func show(_ values: [LuaValue]) throws {
    guard !values.isEmpty else { return }
    if values.allSatisfy(\.isPlain) {
      let texts = try values.map { try LuaValueText.text(of: $0, in: domain, width: width) }
      return Terminal.print(texts.joined(separator: "\t"))
    }
    for value in values { try show(value) }
  }

  /// Shows a value in the form for its kind.
  private func show(_ value: LuaValue) throws {
    switch try domain.shown(value, most: greatestCount) {
    case .value(.table(let table)):
      if let rows = try LuaRowTable(table, most: greatestCount, in: domain, width: width) {
        return try show(rows.names, rows.rows, total: rows.total, of: "row")
      }
      Terminal.print(try LuaValueText.text(of: value, in: domain, width: width))
    case .value(let value): Terminal.print(try LuaValueText.text(of: value, in: domain, width: width))
    case .text(let text): Terminal.print(text)
    case .error(let text): Terminal.print("error: \(text)")
    case .object(let object): try show(object)
    case .objects(let objects, let total): try show(objects, total: total)
    case .rows(let names, let rows, let total): try show(names, rows, total: total, of: "row")
    }
  }

  // MARK: Tables

  /// A printer for a table that fits in the terminal.
  private func writer(_ columns: [String], isMixed: Bool = false) -> RowPrinter {
    RowPrinter(form, columns: columns, room: width, isMixed: isMixed)
  }

  /// Shows an object as a table of its properties.
  ///
  /// To-many relationships are shown as the number of their objects.
  private func show(_ object: ManagedObject) throws {
    let writer = writer([object.objectID.nameForPeople, Self.state(of: object)], isMixed: true)
    for property in object.entity.allProperties {
      let value =
        property.relationship?.isToMany == true
        ? try Self.reading { .string(Self.counted(try object.memberCount(property.slot), "object")) }
        : try cell(property.name, of: object)
      try writer.write([.string(property.name), value])
    }
    try writer.finish()
  }

  /// The state of an object, for the heading. It is empty for an object without changes.
  private static func state(of object: ManagedObject) -> String {
    if object.isDeleted { return "deleted, not saved" }
    if object.isInserted { return "new, not saved" }
    return object.hasChanges ? "changed, not saved" : ""
  }

  /// Shows objects as rows. The columns are the attributes of the nearest entity that all objects
  /// share.
  ///
  /// - Parameters:
  ///   - objects: The first objects.
  ///   - total: The number of all objects.
  private func show(_ objects: [ManagedObject], total: Int) throws {
    guard let first = objects.first, let model = first.managedObjectContext?.model else {
      return Terminal.print("no objects")
    }
    let entity = Self.sharedEntity(of: objects, first.entity, in: model)
    let names = try entity.map { try FetchColumns(nil, of: $0.name, in: model).names } ?? [FetchColumns.id]
    let rows = try objects.map { object in
      try HostWork.charge(names.count)
      return try names.map { try cell($0, of: object) }
    }
    try show(names, rows, total: total, of: "object")
  }

  /// Shows rows, and a line with the number of rows that are left out.
  ///
  /// - Parameters:
  ///   - names: The names of the columns.
  ///   - rows: The first rows.
  ///   - total: The number of all rows.
  ///   - noun: The word for one row.
  func show(_ names: [String], _ rows: [[Value]], total: Int, of noun: String) throws {
    guard total > 0 else { return Terminal.print("no \(noun)s") }
    let writer = writer(names)
    for row in rows {
      // A limit or an interruption also ends the output of a table.
      try HostWork.charge(names.count)
      try writer.write(row)
    }
    try writer.finish()
    let all = Self.counted(total, noun)
    Terminal.print(rows.count < total ? "(\(rows.count) of \(all))" : "(\(all))")
  }

  /// The nearest entity that all objects share, or nil if there is none.
  ///
  /// - Parameters:
  ///   - objects: The objects.
  ///   - first: The entity of the first object.
  ///   - model: The model of the context.
  private static func sharedEntity(
    of objects: [ManagedObject], _ first: ResolvedEntity, in model: ResolvedModel
  ) -> ResolvedEntity? {
    var entity: ResolvedEntity? = first
    for object in objects {
      while let wanted = entity, !object.entity.isKind(of: wanted) { entity = wanted.parent.map { model.entities[$0] } }
    }
    return entity
  }

  /// The value of a column. If the value cannot be read, the reason is shown instead.
  ///
  /// - Parameters:
  ///   - name: The name of the column.
  ///   - object: The object of the row.
  private func cell(_ name: String, of object: ManagedObject) throws -> Value {
    if name == FetchColumns.id {
      return object.objectID.isTemporaryID ? .string("(new)") : .objectID(object.objectID)
    }
    return try Self.reading {
      let value = try FetchOutput.value(name, of: object)
      if case .objectID(let id) = value, id.isTemporaryID { return .string(id.nameForPeople) }
      return value
    }
  }

  /// Reads a value. An error becomes a text, except for a limit or an interruption.
  private static func reading(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      // A limit or an interruption ends the output.
      if [ExitStatus.limit, ExitStatus.interrupted].contains(ExitStatus.status(for: error)) { throw error }
      return .string("(error: \(error))")
    }
  }

  /// A number with a noun, such as `1 row` or `3 rows`.
  static func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
}

extension LuaValue {
  /// Whether the value is shown as a part of a line.
  fileprivate var isPlain: Bool {
    switch self {
    case .nil, .null, .boolean, .integer, .number, .string: true
    default: false
    }
  }
}
