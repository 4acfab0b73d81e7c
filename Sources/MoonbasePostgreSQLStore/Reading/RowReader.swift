#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The selection and decoding of an entity's rows (and its subentities'), computed once and used for every row.
  struct RowReader: Sendable {
    private struct Decoder: Sendable {
      let symbol: Symbol
      let places: ContiguousArray<RowSelect.Place>
    }

    let select: RowSelect
    let store: StoreNumber
    private let model: ResolvedModel
    private let lost: [Value]
    private let composites: [CompositeReader]
    /// The decoders by entity number.
    private let decoders: [Int64: Decoder]
    private let only: (number: Int64, decoder: Decoder)?
    /// The entity that stands for an unknown entity number.
    private let unexpectedEntity: ResolvedEntity?
    private let numbered: ContiguousArray<(symbol: Symbol, root: EntityIndex)>
    private let path: String

    init(
      _ entity: ResolvedEntity, includesSubentities: Bool, layout: StoreLayout, store: StoreNumber, path: String
    ) throws {
      select = try RowSelect(entity, includesSubentities: includesSubentities, layout: layout, dialect: .postgreSQL)
      self.store = store
      self.path = path
      model = layout.model
      lost = select.lacks.map { .object(OpaqueObject(damage: $0, digest: $0.message.hashValue)) }
      composites = select.composites.map(CompositeReader.init)
      let list = select.kinds.map { kind in
        (kind.number, Decoder(symbol: kind.entity.symbol, places: ContiguousArray(kind.places)))
      }
      decoders = Dictionary(list) { first, _ in first }
      only = list.count == 1 ? list[0] : nil
      unexpectedEntity = layout.firstConcrete(ofTable: entity)
      numbered = layout.symbolsByNumber
    }

    /// The columns that are read for an ID.
    var keyColumns: [String] { ["t0.Z_PK", "t0.Z_ENT"] }

    /// The ID in a row whose first columns are key and entity number.
    func id(_ rows: ResultRows, _ row: Int) throws -> ManagedObjectID {
      ManagedObjectID(
        store: store, entity: try decoder(rows, row)?.symbol ?? entityOfStranger().symbol, key: rows.integer(row, 0))
    }

    func ids(_ rows: ResultRows) throws -> IDList {
      try HostWork.charge(rows.count)
      if let only, select.entityCondition == nil || !only.decoder.places.isEmpty,
        (0..<rows.count).allSatisfy({ rows.integer($0, 1) == only.number })
      {
        return IDList(keys: (0..<rows.count).map { rows.integer($0, 0) }, store: store, entity: only.decoder.symbol)
      }
      var ids = IDList()
      for row in 0..<rows.count { ids.append(try id(rows, row)) }
      return ids
    }

    /// Reads the rows of a result that `accepts` selects.
    @inline(__always)
    func collect(
      _ rows: ResultRows, _ range: Range<Int>, into collector: RowCollector, accepts: (Int) -> Bool = { _ in true }
    ) throws {
      var memory = HostMemory()
      var held = collector.weight
      for row in range where accepts(row) {
        try HostWork.charge()
        guard let decoder = try decoder(rows, row) else {
          try readStranger(rows, row, into: collector)
          continue
        }
        let page = collector.page(for: decoder.symbol, slotCount: decoder.places.count)
        page.beginRow(key: rows.integer(row, 0), version: rows.integer(row, 2))
        for slot in decoder.places.indices {
          do {
            try read(decoder.places[slot], of: rows, row: row, slot: slot, into: page)
          } catch {
            page.set(token(error, of: slot, in: decoder.symbol, rows.integer(row, 0)), slot: slot)
          }
        }
        page.endRow()
        let weight = collector.weight
        if weight &- held > 4096 {
          try memory.hold(weight &- held)
          held = weight
        }
      }
    }

    /// The decoder of a row, or nil for an unknown entity number. Throws for an entity that the query does not select.
    @inline(__always)
    private func decoder(_ rows: ResultRows, _ row: Int) throws -> Decoder? {
      let number = rows.integer(row, 1)
      if let only, only.number == number { return only.decoder }
      if let decoder = decoders[number] { return decoder }
      guard let symbol = symbol(number: number, root: unexpectedEntity?.root ?? -1) else { return nil }
      let names = select.kinds.map { "\($0.entity.name) (\($0.number))" }.listed()
      throw damage(symbol, rows.integer(row, 0)).error(
        "its entity number (Z_ENT) is \(number), which is none of \(names)")
    }

    private func readStranger(_ rows: ResultRows, _ row: Int, into collector: RowCollector) throws {
      let entity = try entityOfStranger()
      let names = select.kinds.map { "\($0.entity.name) (\($0.number))" }.listed()
      let token = damage(entity.symbol, rows.integer(row, 0))
        .token(entityNumber: rows.isNull(row, 1) ? "NULL" : "\(rows.integer(row, 1))", known: names)
      let page = collector.page(for: entity.symbol, slotCount: entity.properties.count)
      page.beginRow(key: rows.integer(row, 0), version: rows.integer(row, 2))
      for slot in entity.attributeSlots + entity.toOneSlots where !entity.properties[slot].isTransient {
        page.set(token, slot: slot)
      }
      page.endRow()
    }

    private func entityOfStranger() throws -> ResolvedEntity {
      if let unexpectedEntity { return unexpectedEntity }
      throw GraphError(.invalidStore, message: "\(path) is damaged: table \(select.table): no entity has rows there")
    }

    private func damage(_ entity: Symbol, _ key: Int64) -> RowDamage {
      RowDamage(path: path, table: select.table, id: ManagedObjectID(store: store, entity: entity, key: key))
    }

    private func token(_ error: ColumnMismatch, of slot: Slot, in symbol: Symbol, _ key: Int64) -> Value {
      model.entity(symbol).map { damage(symbol, key).token(error, of: $0.properties[slot]) } ?? .null
    }

    @inline(__always)
    private func read(
      _ place: RowSelect.Place, of rows: ResultRows, row: Int, slot: Slot, into page: RowPageBuilder
    ) throws(ColumnMismatch) {
      switch place {
      case .null: break
      case .lost(let lack): page.set(lost[lack], slot: slot)
      case .attribute(let kind, let column), .wideText(let kind, let column):
        try ColumnReader.read(kind, of: rows, row: row, column: Int(column), into: page, slot: slot)
      case .composite(let number): page.set(try composites[number].value(rows, row: row), slot: slot)
      case .toOne(let column, let symbol):
        if !rows.isNull(row, Int(column)) { page.set(key: rows.integer(row, Int(column)), of: symbol, slot: slot) }
      case .polymorphic(let column, let entityColumn, let destinations):
        guard !rows.isNull(row, Int(column)) else { return }
        let entity =
          rows.isNull(row, Int(entityColumn))
          ? destinations.declared
          : symbol(number: rows.integer(row, Int(entityColumn)), root: destinations.root) ?? destinations.unknown
        page.set(key: rows.integer(row, Int(column)), of: entity, slot: slot)
      }
    }

    /// The entity with a number, if its rows are in the table of the root.
    @inline(__always)
    private func symbol(number: Int64, root: EntityIndex) -> Symbol? {
      guard number > 0, number < numbered.count, numbered[Int(number)].root == root else { return nil }
      return numbered[Int(number)].symbol
    }
  }
#endif
