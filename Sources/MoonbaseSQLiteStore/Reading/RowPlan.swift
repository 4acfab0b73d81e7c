import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The statements that select rows of an entity (and its subentities), and the decoding of their columns. Computed once
/// and used for every row.
///
/// Made for an entity and a set of slots, cached by `RowPlanCache` and shared by all threads. The first three columns
/// of every statement are key, entity number and version; the others follow in the order of `select`.
///
/// A damaged value does not end a read: its slot gets a token that throws `.invalidStore` when a program uses it.
struct RowPlan: Sendable {
  /// The columns of one entity.
  private final class Decoder: Sendable {
    /// The entity.
    let symbol: Symbol
    /// `Z_ENT`.
    let number: Int64
    /// The columns, one for each slot.
    let steps: ContiguousArray<RowSelect.Place>

    /// Copies the columns of an entity into one array.
    init(_ kind: RowSelect.Kind) {
      (symbol, number, steps) = (kind.entity.symbol, kind.number, ContiguousArray(kind.places))
    }
  }

  /// The statements and their columns.
  let select: RowSelect
  /// The numbers of the plan's statements among a connection's hot statements: a row by its key, and rows of a range of
  /// keys. Nil where not all slots are read.
  private let hotNumbers: (point: Int, range: Int)?
  /// The store in object IDs.
  let store: StoreNumber
  /// The model, for entities by symbol.
  private let model: ResolvedModel
  /// The values of slots whose columns the file lacks.
  private let lost: [Value]
  /// The composite attributes, by number.
  private let composites: [CompositeDecoder]
  /// The decoders by entity number. A single entity has the index 0.
  private let decoders: ContiguousArray<Decoder?>
  /// Whether all rows are of one entity.
  let isSingle: Bool
  /// The entity number of a single entity.
  private let singleNumber: Int64
  /// For messages, such as `Person (1), Student (2)`.
  private let entityNames: String
  /// The entity that stands for an unknown entity number.
  private let unexpectedEntity: ResolvedEntity?
  /// The path of the store, for messages.
  private let path: String
  /// The entities by number. A root of -1 stands for no entity.
  private let numbered: ContiguousArray<(symbol: Symbol, root: EntityIndex)>
  /// Decodes large values.
  private let externalData: ExternalData

  /// With nil `slots`, all slots are read. Throws where the layout does not contain the entity.
  init(
    _ entity: ResolvedEntity, includesSubentities: Bool, only slots: Set<Slot>? = nil, layout: StoreLayout,
    store: StoreNumber, externalData: ExternalData, path: String
  ) throws {
    self.path = path
    select = try RowSelect(
      entity, includesSubentities: includesSubentities, only: slots, layout: layout, dialect: .sqlite)
    let number = 4 * entity.index + (includesSubentities ? 2 : 0)
    hotNumbers = slots == nil ? (number, number + 1) : nil
    self.store = store
    model = layout.model
    self.externalData = externalData
    lost = select.lacks.map { .object(OpaqueObject(damage: $0, digest: $0.message.hashValue)) }
    composites = select.composites.map(CompositeDecoder.init)
    let list = select.kinds.map { ($0.number, Decoder($0)) }
    isSingle = list.count == 1
    singleNumber = list.first?.0 ?? 0
    entityNames = select.kinds.map { "\($0.entity.name) (\($0.number))" }.listed()
    if isSingle {
      decoders = [list[0].1]
    } else {
      var decoders = ContiguousArray<Decoder?>(repeating: nil, count: Int(list.map(\.0).max() ?? 0) + 1)
      for (number, decoder) in list { decoders[Int(number)] = decoder }
      self.decoders = decoders
    }
    unexpectedEntity = layout.firstConcrete(ofTable: entity)
    numbered = layout.symbolsByNumber
  }

  /// The statement that reads a row by its key. The first parameter is the key. The statement stays prepared.
  func pointStatement(_ connection: Connection) throws -> Statement {
    guard let number = hotNumbers?.point else { return try connection.statement(select.pointSelect) }
    return try connection.statement(hot: number, select.pointSelect)
  }

  /// The statement that reads the rows of a range of keys. The parameters are the first and the last key.
  func rangeStatement(_ connection: Connection) throws -> Statement {
    guard let number = hotNumbers?.range else { return try connection.statement(select.rangeSelect) }
    return try connection.statement(hot: number, select.rangeSelect)
  }

  // MARK: Decoding

  /// The ID in the current row, whose first two columns are key and entity number. Throws `.invalidStore` for a row
  /// without a key.
  func id(_ row: Statement) throws -> ManagedObjectID {
    let symbol = try decoder(row)?.symbol ?? entityOfStranger(row).symbol
    return ManagedObjectID(store: store, entity: symbol, key: try rowKey(row))
  }

  /// The IDs of keys, where all rows are of one entity. Empty if the plan has no entity.
  func ids(of keys: [Int64]) -> IDList {
    decoders[0].map { IDList(keys: keys, store: store, entity: $0.symbol) } ?? IDList()
  }

  /// The number of rows after which the bytes read are counted again.
  private static let stride = 4096

  /// Reads the rows of a statement that `accepts` selects, up to a number of rows or bytes. Returns whether there may
  /// be more rows.
  ///
  /// The decoder is looked up only where the entity changes from row to row. Charges each row and the bytes to a
  /// running script, and throws at its limits. Rows of one entity go into the same page.
  @inline(__always)
  func collect(
    _ statement: Statement, into rows: RowCollector, limit: Int = .max, weight greatest: Int = .max,
    accepts: (Statement) -> Bool = { _ in true }
  ) throws -> Bool {
    var memory = HostMemory()
    var held = rows.weight
    var isOnRow = false
    while isOnRow || rows.count < limit && rows.weight < greatest {
      if !isOnRow {
        guard try next(statement, accepts) else { return false }
      }
      guard let decoder = try decoder(statement) else {
        isOnRow = false
        try readStranger(statement, into: rows)
        continue
      }
      let page = rows.page(for: decoder.symbol, slotCount: decoder.steps.count)
      var room = Swift.min(page.capacity - page.count, limit - rows.count)
      let others = rows.weight - page.weight
      isOnRow = false
      repeat {
        try read(statement, by: decoder, into: page)
        page.endRow()
        room -= 1
        let weight = others &+ page.weight
        if weight &- held > Self.stride {
          try memory.hold(weight &- held)
          held = weight
        }
        if room == 0 || weight >= greatest { break }
        guard try next(statement, accepts) else { return false }
        isOnRow = statement.storedInteger(1) != decoder.number
      } while !isOnRow
    }
    return true
  }

  /// Skips rows that `accepts` rejects; these are charged too.
  @inline(__always)
  private func next(_ statement: Statement, _ accepts: (Statement) -> Bool) throws -> Bool {
    repeat {
      guard try statement.step() else { return false }
      try HostWork.charge(1)
    } while !accepts(statement)
    return true
  }

  /// Decodes the current row into a new row of a page. A column that cannot be decoded becomes a token.
  @inline(__always)
  private func read(_ row: Statement, by decoder: Decoder, into page: RowPageBuilder) throws {
    page.beginRow(key: try rowKey(row), version: row.integer(2))
    var slot = 0
    while slot < decoder.steps.count {
      do {
        try read(decoder.steps[slot], of: row, slot: slot, into: page)
      } catch {
        page.set(token(error, of: slot, in: decoder.symbol, row), slot: slot)
      }
      slot += 1
    }
  }

  /// Decodes the current row alone. Used for lookups by key.
  func snapshot(_ row: Statement) throws -> Snapshot {
    guard let decoder = try decoder(row) else {
      let rows = RowCollector(store: store)
      try readStranger(row, into: rows)
      return rows.finish()[0]
    }
    let page = RowPageBuilder(store, entity: decoder.symbol, slotCount: decoder.steps.count, capacity: 1)
    try read(row, by: decoder, into: page)
    page.endRow()
    return Snapshot(page.finish(), at: 0)
  }

  /// The decoder of the current row, or nil for an unknown entity number. Throws for an entity that the plan does not
  /// select. Throws `.invalidStore`.
  private func decoder(_ row: Statement) throws -> Decoder? {
    let number = entityNumber(row, column: 1)
    if let number {
      if isSingle, number == singleNumber, let only = decoders[0] { return only }
      if !isSingle, number >= 0, number < decoders.count, let decoder = decoders[Int(number)] { return decoder }
    }
    guard let number, let symbol = symbol(number: number, root: unexpectedEntity?.root ?? -1) else { return nil }
    let what = "its entity number (Z_ENT) is \(shown(row, 1)), which is none of \(entityNames)"
    throw damage(symbol, row).error(what)
  }

  /// Adds a row of an unknown entity. Each of its values is the error that reports this. Transient slots stay null.
  private func readStranger(_ row: Statement, into rows: RowCollector) throws {
    let entity = try entityOfStranger(row)
    let token = damage(entity.symbol, row).token(entityNumber: shown(row, 1), known: entityNames)
    let page = rows.page(for: entity.symbol, slotCount: entity.properties.count)
    page.beginRow(key: try rowKey(row), version: row.integer(2))
    for slot in entity.attributeSlots + entity.toOneSlots where !entity.properties[slot].isTransient {
      page.set(token, slot: slot)
    }
    page.endRow()
  }

  /// The entity whose rows are in the same table. Throws `.invalidStore` if there is none.
  private func entityOfStranger(_ row: Statement) throws -> ResolvedEntity {
    if let unexpectedEntity { return unexpectedEntity }
    throw GraphError(
      .invalidStore,
      message: "\(path) is damaged: table \(select.table), row \(shown(row, 0)): no entity has rows there")
  }

  /// An entity number, where SQLite compares the value as an integer; nil for other values. A double without a fraction
  /// counts as an integer.
  @inline(__always)
  private func entityNumber(_ row: Statement, column: Int32) -> Int64? {
    row.storedInteger(column) ?? row.storedDouble(column).flatMap { Int64(exactly: $0) }
  }

  /// The key of the current row. Only a table without a primary key may lack a row's key. Throws `.invalidStore` then.
  @inline(__always)
  private func rowKey(_ row: Statement) throws -> Int64 {
    if let key = row.storedInteger(0) { return key }
    throw noKey(shown(row, 0))
  }

  /// The error for a row whose key is no integer. `found` is the text of the key.
  func noKey(_ found: String) -> GraphError {
    let entity = select.kinds.first?.entity.name ?? ""
    return GraphError(
      .invalidStore,
      message:
        "\(path) is damaged: table \(select.table) of \(entity) has a row whose key (Z_PK) is \(found), which is no "
        + "integer; give it one that is free, or delete the row",
      entity: entity)
  }

  /// A column as text, for messages.
  private func shown(_ row: Statement, _ column: Int32) -> String { row.isNull(column) ? "NULL" : row.text(column) }

  /// The place of the current row, for tokens and messages.
  private func damage(_ entity: Symbol, _ row: Statement) -> RowDamage {
    let id = ManagedObjectID(store: store, entity: entity, key: row.integer(0))
    return RowDamage(path: path, table: select.table, id: id)
  }

  /// The value that throws the mismatch when it is read.
  private func token(_ error: ColumnMismatch, of slot: Slot, in symbol: Symbol, _ row: Statement) -> Value {
    model.entity(symbol).map { damage(symbol, row).token(error, of: $0.properties[slot]) } ?? .null
  }

  /// Reads one slot. Columns that the file lacks give a token.
  @inline(__always)
  private func read(
    _ step: RowSelect.Place, of row: Statement, slot: Slot, into page: RowPageBuilder
  ) throws(ColumnMismatch) {
    switch step {
    case .null: break
    case .lost(let lack): page.set(lost[lack], slot: slot)
    case .wideText(let kind, let column):
      if !row.isWellFormedUTF16(column) { throw ColumnMismatch(malformedUTF16: row, column: column) }
      try ColumnDecoder.read(kind, of: row, column: column, external: externalData, into: page, slot: slot)
    case .attribute(let kind, let column):
      try ColumnDecoder.read(kind, of: row, column: column, external: externalData, into: page, slot: slot)
    case .composite(let number): page.set(try composites[number].value(row, external: externalData), slot: slot)
    case .toOne(let column, let symbol):
      if let key = try key(row, column: column) { page.set(key: key, of: symbol, slot: slot) }
    case .polymorphic(let column, let entityColumn, let destinations):
      guard let key = try key(row, column: column) else { return }
      page.set(key: key, of: entity(row, column: entityColumn, among: destinations), slot: slot)
    }
  }

  /// Nil for NULL. Throws for any other storage class than an integer.
  private func key(_ row: Statement, column: Int32) throws(ColumnMismatch) -> Int64? {
    if let key = row.storedInteger(column) { return key }
    guard row.isNull(column) else {
      throw ColumnMismatch(row, column: column, storage: row.storage(column), wanted: "key of an object")
    }
    return nil
  }

  /// The entity of a relationship's destination. Unknown numbers give the entity `destinations.unknown`.
  @inline(__always)
  private func entity(_ row: Statement, column: Int32, among destinations: RowSelect.Destinations) -> Symbol {
    if let number = row.storedInteger(column), let known = symbol(number: number, root: destinations.root) {
      return known
    }
    return unusualEntity(row, column: column, among: destinations)
  }

  /// The declared destination for NULL, `destinations.unknown` for a number of no entity.
  @inline(never)  // for deleted or damaged destinations
  private func unusualEntity(_ row: Statement, column: Int32, among destinations: RowSelect.Destinations) -> Symbol {
    // Rows that are older than the destination's subentities have no number.
    if row.isNull(column) { return destinations.declared }
    let number = entityNumber(row, column: column)
    return number.flatMap { symbol(number: $0, root: destinations.root) } ?? destinations.unknown
  }

  /// The entity with a number, if its rows are in the table of the root. Constant time.
  @inline(__always)
  private func symbol(number: Int64, root: EntityIndex) -> Symbol? {
    guard number > 0, number < numbered.count, numbered[Int(number)].root == root else { return nil }
    return numbered[Int(number)].symbol
  }
}
