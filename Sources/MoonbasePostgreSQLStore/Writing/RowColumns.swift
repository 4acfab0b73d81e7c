#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The parts of columns: an array for each, or one list of rows for all.
  protocol ColumnParts {
    associatedtype Part: ParameterSink
    /// The sink for the values of a part.
    subscript(part index: Int) -> Part { get set }
  }

  extension [ArrayParameter]: ColumnParts {
    subscript(part index: Int) -> ArrayParameter {
      get { self[index] }
      _modify { yield &self[index] }
    }
  }

  /// The parts of a row follow each other, so that all go to the same list.
  extension CopyRows: ColumnParts {
    subscript(part index: Int) -> CopyRows {
      get { self }
      _modify { yield &self }
    }
  }

  /// The columns of an entity's rows and the encoding of their values.
  struct RowColumns {
    /// A slot that has columns.
    struct Column {
      let slot: Slot
      let layout: SlotLayout
      /// The quoted names of the columns, with their types.
      let parts: [(name: String, type: PostgreSQLType)]
      /// The column with the place among the owner's ordered destinations.
      let orderColumn: String?
    }

    let layout: EntityLayout
    let table: String
    let columns: [Column]
    private let store: StoreLayout

    /// Throws where the schema lacks columns that rows of the entity need.
    init(_ layout: EntityLayout, store: StoreLayout) throws {
      for case .lost(let error) in layout.slots { throw error }
      (self.layout, self.store) = (layout, store)
      table = identifier(layout.table)
      columns = layout.slots.enumerated().compactMap { slot, place in
        switch place {
        case .none, .lost, .foreignKey, .join: nil
        case .attribute(let name, let kind):
          Column(slot: slot, layout: place, parts: [(identifier(name), kind.type)], orderColumn: nil)
        case .toOne(let toOne):
          Column(
            slot: slot, layout: place,
            parts: [(identifier(toOne.column), .bigint)]
              + (toOne.entityColumn.map { [(identifier($0), .bigint)] } ?? []),
            orderColumn: toOne.orderColumn.map(identifier))
        case .composite(let composite):
          Column(
            slot: slot, layout: place, parts: composite.leaves.map { (identifier($0.column), $0.kind.type) },
            orderColumn: nil)
        }
      }
    }

    /// Appends a row's values of a column to its parts in a sink. `first` is the number of the first part.
    func append(_ row: Snapshot, _ column: Column, to parts: inout some ColumnParts, at first: Int) throws {
      let cell = row.cell(column.slot)
      switch column.layout {
      case .composite(let composite):
        let value = cell.asValue
        if case .object(let token) = value { _ = try token.load?() }
        for (offset, leaf) in composite.leaves.enumerated() {
          let element = value.element(at: leaf.path)
          try checkText(element, row, column)
          element.append(to: &parts[part: first + offset], as: leaf.kind.type)
        }
      case .toOne(let toOne):
        let id: ManagedObjectID? =
          switch cell {
          case .reference(let id), .value(.objectID(let id)): id
          case .value(.object(let token)):
            try token.load.map { _ = try $0() }.flatMap { nil }
          default: nil
          }
        if let id { parts[part: first].append(id.key) } else { parts[part: first].appendNull(.bigint) }
        guard toOne.entityColumn != nil else { return }
        if let id {
          parts[part: first + 1].append(try store.layout(of: id).number)
        } else {
          parts[part: first + 1].appendNull(.bigint)
        }
      default: try append(cell, of: row, column, to: &parts[part: first])
      }
    }

    @inline(__always)
    private func append(
      _ cell: Snapshot.Cell, of row: Snapshot, _ column: Column, to array: inout some ParameterSink
    ) throws {
      let type = column.parts[0].type
      switch (cell, type) {
      case (.int(let number), .bigint): array.append(number)
      case (.bool(let flag), .bigint): array.append(Int64(flag ? 1 : 0))
      case (.double(let number), .double), (.date(let number), .double):
        number.isNaN ? array.appendNull(type) : array.append(number)
      case (.text(let bytes), .text):
        if bytes.contains(0) { throw hasNUL(row, column) }
        array.append(bytes, as: .text)
      case (.data(let bytes), .bytea): array.append(bytes, as: .bytea)
      case (.uuid(let uuid), .uuid): array.append(uuid)
      case (.null, _): array.appendNull(type)
      case (.value(.object(let token)), .bytea):
        // A row copied from another store, with data that was not loaded yet.
        guard let data = try token.load?() else { return array.appendNull(type) }
        if data.count > Self.greatestSize { throw tooLarge(data.count, row, column) }
        array.append(data)
      case (.value(.object(let token)), _):
        _ = try token.load?()
        array.appendNull(type)
      default:
        let value = cell.asValue
        try checkText(value, row, column)
        value.append(to: &array, as: type)
      }
    }

    /// The greatest number of bytes in a row. A message to the server has at most 1 GiB.
    static let greatestSize = 1_000_000_000

    private func tooLarge(_ count: Int, _ row: Snapshot, _ column: Column) -> GraphError {
      let name = layout.entity.properties[column.slot].name
      return GraphError(
        .invalidValue,
        message: "\(row.id): \(name) has \(count) bytes, and PostgreSQL takes \(Self.greatestSize) of an object",
        entity: layout.entity.name, property: name, objectID: row.id)
    }

    private func checkText(_ value: Value, _ row: Snapshot, _ column: Column) throws {
      if case .string(let text) = value, text.utf8.contains(0) { throw hasNUL(row, column) }
    }

    private func hasNUL(_ row: Snapshot, _ column: Column) -> GraphError {
      let name = layout.entity.properties[column.slot].name
      return GraphError(
        .invalidValue,
        message:
          "\(row.id): \(name) has the character NUL, which no text in PostgreSQL has: leave it out, or keep it as data",
        entity: layout.entity.name, property: name, objectID: row.id)
    }

    // MARK: Statements

    /// The names of the columns of an insertion: keys, entity numbers, versions, then the columns.
    var insertedNames: [String] { ["Z_PK", "Z_ENT", "Z_OPT"] + columns.flatMap { $0.parts.map(\.name) } }

    /// Inserts rows given as arrays, in the order of `insertedNames`.
    var insertion: String {
      let names = insertedNames
      let types = [PostgreSQLType.bigint, .bigint, .bigint] + columns.flatMap { $0.parts.map(\.type) }
      return "INSERT INTO \(table) (\(names.joined(separator: ", "))) SELECT * FROM unnest(\(Self.arrays(types)))"
    }

    /// Updates rows given as arrays: keys, versions, expected versions where they are checked, then the columns.
    /// Returns the keys of the rows found.
    func update(_ changed: [Column], checksVersion: Bool) -> String {
      let parts = changed.flatMap(\.parts)
      let types = [PostgreSQLType](repeating: .bigint, count: checksVersion ? 3 : 2) + parts.map(\.type)
      let names = ["k", "v"] + (checksVersion ? ["e"] : []) + parts.indices.map { "c\($0)" }
      let settings =
        parts.enumerated().map { "\($1.name) = n.c\($0)" }
        // An object that leaves an ordered relationship loses its place.
        + changed.compactMap { $0.orderColumn.map { "\($0) = NULL" } }
        + [checksVersion ? "Z_OPT = n.v" : "Z_OPT = COALESCE(t0.Z_OPT, 0) + 1"]
      return "UPDATE \(table) t0 SET \(settings.joined(separator: ", ")) FROM unnest(\(Self.arrays(types))) "
        + "AS n (\(names.joined(separator: ", "))) WHERE t0.Z_PK = n.k"
        + (checksVersion ? " AND COALESCE(t0.Z_OPT, 0) = n.e" : "") + " RETURNING t0.Z_PK"
    }

    /// Sets columns of rows given as arrays: keys, then the columns. Versions are unchanged.
    func setting(_ changed: [Column]) -> String {
      let parts = changed.flatMap(\.parts)
      let settings = parts.enumerated().map { "\($1.name) = n.c\($0)" }
      let names = ["k"] + parts.indices.map { "c\($0)" }
      return
        "UPDATE \(table) t0 SET \(settings.joined(separator: ", ")) FROM unnest(\(Self.arrays([.bigint] + parts.map(\.type)))) "
        + "AS n (\(names.joined(separator: ", "))) WHERE t0.Z_PK = n.k"
    }

    /// Deletes rows given as arrays of keys and expected versions, or of keys alone. Returns the keys of the rows
    /// found.
    func deletion(checksVersion: Bool) -> String {
      checksVersion
        ? "DELETE FROM \(table) t0 USING unnest($1, $2) AS n (k, e) WHERE t0.Z_PK = n.k AND COALESCE(t0.Z_OPT, 0) = n.e "
          + "RETURNING t0.Z_PK"
        : "DELETE FROM \(table) t0 WHERE t0.Z_PK = ANY($1) RETURNING t0.Z_PK"
    }

    /// Sets some slots of rows to null, so that other rows can take unique values.
    func clearing(_ slots: Set<Slot>) -> String? {
      let parts = columns.filter { slots.contains($0.slot) }.flatMap { $0.parts.map { "\($0.name) = NULL" } }
      return parts.isEmpty ? nil : "UPDATE \(table) SET \(parts.joined(separator: ", ")) WHERE Z_PK = ANY($1)"
    }

    /// Selects the versions of rows.
    var versions: String { "SELECT Z_PK, COALESCE(Z_OPT, 0) FROM \(table) WHERE Z_PK = ANY($1)" }

    private static func arrays(_ types: [PostgreSQLType]) -> String {
      types.enumerated().map { "$\($0 + 1)::\($1.name)[]" }.joined(separator: ", ")
    }
  }
#endif
