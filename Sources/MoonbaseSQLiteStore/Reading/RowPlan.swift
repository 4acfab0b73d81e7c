import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// How rows of an entity (and its subentities) are selected and decoded: worked out once, used for every row.
struct RowPlan: Sendable {
  /// What to do with one slot.
  private enum Step: Sendable {
    case null
    case attribute(ColumnKind, Int32)
    /// A destination whose entity is known.
    case toOne(Int32, Symbol)
    /// A destination whose entity number is in another column.
    case polymorphic(Int32, Int32, Symbol)
  }

  private struct Decoder: Sendable {
    var symbol: Symbol
    var steps: ContiguousArray<Step>
  }

  let table: String
  /// The condition that picks the rows of the entities out of their table; nil where all rows count.
  let entityCondition: String?
  /// The result columns, on alias `t0`: key, entity number, version, then values.
  let columns: [String]
  /// Selects one row by key.
  let pointSelect: String
  private let store: StoreNumber
  private let model: ResolvedModel
  /// By entity number; for a single entity by 0.
  private let decoders: ContiguousArray<Decoder?>
  private let isSingle: Bool
  private let singleNumber: Int64
  private let entityNames: String
  private let path: String
  private let symbols: ContiguousArray<Symbol?>
  private let externalData: ExternalData

  init(
    _ entity: ResolvedEntity, includesSubentities: Bool, layout: StoreLayout, store: StoreNumber,
    externalData: ExternalData, path: String
  ) throws {
    self.path = path
    let own = try layout.layout(entity)
    let concrete = (includesSubentities ? layout.subtree(of: entity) : [own]).filter { !$0.entity.isAbstract }
    table = own.table
    self.store = store
    model = layout.model
    self.externalData = externalData
    var columns = ["t0.Z_PK", "t0.Z_ENT", "t0.Z_OPT"]
    var places: [String: Int32] = [:]
    func place(_ column: String) -> Int32 {
      if let known = places[column] { return known }
      let new = Int32(columns.count)
      columns.append("t0.\(identifier(column))")
      places[column] = new
      return new
    }
    func step(_ slot: SlotLayout) -> Step {
      switch slot {
      case .none, .lost, .foreignKey, .join: return .null
      case .attribute(let column, let kind): return .attribute(kind, place(column))
      case .toOne(let toOne):
        let symbol = layout.model.entities[toOne.destination].symbol
        guard let entityColumn = toOne.entityColumn else { return .toOne(place(toOne.column), symbol) }
        return .polymorphic(place(toOne.column), place(entityColumn), symbol)
      }
    }
    let list = concrete.map { ($0.number, Decoder(symbol: $0.entity.symbol, steps: .init($0.slots.map(step)))) }
    entityCondition = Self.condition(own, concrete: concrete, in: layout)
    isSingle = list.count == 1
    singleNumber = list.first?.0 ?? 0
    entityNames = concrete.map { "\($0.entity.name) (\($0.number))" }.joined(separator: ", ")
    if isSingle {
      decoders = [list[0].1]
    } else {
      var decoders = ContiguousArray<Decoder?>(repeating: nil, count: Int(list.map(\.0).max() ?? 0) + 1)
      for (number, decoder) in list { decoders[Int(number)] = decoder }
      self.decoders = decoders
    }
    self.columns = columns
    let restriction = entityCondition.map { " AND \($0)" } ?? ""
    pointSelect =
      "SELECT \(columns.joined(separator: ", ")) FROM \(identifier(table)) t0 WHERE t0.Z_PK = ?\(restriction)"
    let greatest = layout.entities.compactMap { $0?.number }.max() ?? 0
    symbols = ContiguousArray((0...greatest).map { layout.entity(number: $0)?.entity.symbol })
  }

  /// Selects rows by so many keys.
  func select(keyCount: Int) -> String {
    "SELECT \(columns.joined(separator: ", ")) FROM \(identifier(table)) t0 WHERE t0.Z_PK IN (\(parameters(keyCount)))"
      + (entityCondition.map { " AND \($0)" } ?? "")
  }

  /// Core Data does not look at `Z_ENT` where a table holds one entity, and neither does this.
  private static func condition(_ own: EntityLayout, concrete: [EntityLayout], in layout: StoreLayout) -> String? {
    let root = layout.model.entities[own.entity.root]
    let all = layout.subtree(of: root).filter { !$0.entity.isAbstract }
    if all.count == concrete.count && (!root.hasSubentities || own.entity.index == root.index) { return nil }
    let numbers = concrete.map { String($0.number) }
    return numbers.count == 1 ? "t0.Z_ENT = \(numbers[0])" : "t0.Z_ENT IN (\(numbers.joined(separator: ", ")))"
  }

  // MARK: Decoding

  /// The ID in the current row, whose first two columns are key and entity number. Throws for an entity that the model lacks.
  func id(_ row: Statement) throws -> ManagedObjectID {
    ManagedObjectID(store: store, entity: try decoder(row).symbol, key: row.integer(0))
  }

  /// Adds the current row to others. Throws for an entity that the model lacks, and for a value that is none of its attribute.
  func read(_ row: Statement, into rows: RowCollector) throws {
    let decoder = try decoder(row)
    let page = rows.page(for: decoder.symbol, slotCount: decoder.steps.count)
    page.beginRow(key: row.integer(0), version: row.integer(2))
    var slot = 0
    do {
      for step in decoder.steps {
        try read(step, of: row, slot: slot, into: page)
        slot += 1
      }
    } catch let mismatch as ColumnMismatch {
      let id = ManagedObjectID(store: store, entity: decoder.symbol, key: row.integer(0))
      throw damage(id, slot: slot, mismatch: mismatch)
    }
    rows.endRow()
  }

  /// The current row, alone.
  func snapshot(_ row: Statement) throws -> Snapshot? {
    let rows = RowCollector(store: store)
    try read(row, into: rows)
    return rows.finish().first
  }

  private func decoder(_ row: Statement) throws -> Decoder {
    let number = row.integer(1)
    if isSingle, number == singleNumber, let only = decoders[0] { return only }
    if !isSingle, number >= 0, number < decoders.count, let decoder = decoders[Int(number)] { return decoder }
    let found = row.isNull(1) ? "NULL" : row.text(1)
    throw damage(row.integer(0), what: "its entity number (Z_ENT) is \(found), which is none of \(entityNames)")
  }

  private func damage(_ key: Int64, what: String) -> GraphError {
    GraphError(.invalidStore, message: "\(path) is damaged: table \(table), row \(key): \(what)")
  }

  private func damage(_ id: ManagedObjectID, slot: Slot, mismatch: ColumnMismatch) -> GraphError {
    let name = model.entity(of: id)?.properties[slot].name ?? ""
    var error = damage(
      id.key, what: "\(id.entityName).\(name) \(mismatch.description); put it right, or set it to NULL")
    (error.entity, error.property, error.objectID) = (id.entityName, name, id)
    return error
  }

  @inline(__always)
  private func read(_ step: Step, of row: Statement, slot: Slot, into page: RowPageBuilder) throws {
    switch step {
    case .null: break
    case .attribute(let kind, let column):
      try ColumnDecoder.read(kind, of: row, column: column, external: externalData, into: page, slot: slot)
    case .toOne(let column, let symbol):
      if let key = try key(row, column: column) { page.set(key: key, of: symbol, slot: slot) }
    case .polymorphic(let column, let entityColumn, let declared):
      guard let key = try key(row, column: column) else { return }
      // Rows from before the destination had subentities have no number.
      let number = row.integer(entityColumn)
      guard let symbol = number == 0 ? declared : symbol(number: number) else {
        throw damage(
          row.integer(0), what: "its relationship leads to an object of entity number \(number), which no entity has")
      }
      page.set(key: key, of: symbol, slot: slot)
    }
  }

  private func key(_ row: Statement, column: Int32) throws(ColumnMismatch) -> Int64? {
    if let key = row.storedInteger(column) { return key }
    guard row.isNull(column) else {
      throw ColumnMismatch(row, column: column, storage: row.storage(column), wanted: "key of an object")
    }
    return nil
  }

  private func symbol(number: Int64) -> Symbol? {
    number > 0 && number < symbols.count ? symbols[Int(number)] : nil
  }
}
