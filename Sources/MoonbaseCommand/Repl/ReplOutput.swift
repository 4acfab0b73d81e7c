import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Prints the values of inputs.
final class ReplOutput {
  /// The maximum number of objects or rows of a list that are shown.
  var greatestCount = 40
  private let domain: ScriptDomain
  private let form = OutputForm(hasShortIDs: true)
  private var width: Int { TerminalWidth.columns }

  init(_ domain: ScriptDomain) { self.domain = domain }

  /// Shows values. Plain values are shown on one line, as in `print`.
  func show(_ values: [LuaValue]) throws {
    guard !values.isEmpty else { return }
    if values.allSatisfy(\.isPlain) {
      let texts = try values.map { try LuaValueText.text(of: $0, in: domain, width: width) }
      return Terminal.print(texts.joined(separator: "\t"))
    }
    for value in values { try show(value) }
  }

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

  private func writer(_ columns: [String], isMixed: Bool = false) -> RowPrinter {
    RowPrinter(form, columns: columns, room: width, isMixed: isMixed)
  }

  /// Shows an object as a table of its properties.
  private func show(_ object: ManagedObject) throws {
    let writer = writer([object.nameForPeople, Self.state(of: object)], isMixed: true)
    for property in object.entity.allProperties {
      let value =
        property.relationship?.isToMany == true
        ? try Self.reading { .string(Self.counted(try object.memberCount(property.slot), "object")) }
        : try cell(property.name, of: object)
      try writer.write([.string(property.name), value])
    }
    try writer.finish()
  }

  private static func state(of object: ManagedObject) -> String {
    if object.isDeleted { return "deleted, not saved" }
    if object.isInserted { return "new, not saved" }
    return object.hasChanges ? "changed, not saved" : ""
  }

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

  private static func reading(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      // A limit or an interruption ends the output.
      if [ExitStatus.limit, ExitStatus.interrupted].contains(ExitStatus.status(for: error)) { throw error }
      return .string("(error: \(error))")
    }
  }

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
