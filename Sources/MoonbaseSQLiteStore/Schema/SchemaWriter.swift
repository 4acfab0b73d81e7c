import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// Makes the tables and indexes of a new store, with the SQL that Core Data uses.
struct SchemaWriter {
  let layout: StoreLayout
  let metadata: StoreMetadata

  /// Makes all tables, indexes and metadata in the caller's transaction.
  func write(_ connection: Connection) throws {
    for sql in statements { try connection.executeScript(sql) }
    try writePrimaryKeys(connection)
    try writeModel(connection)
  }

  /// Inserts the model and the metadata into their tables, which must be empty.
  func writeModel(_ connection: Connection) throws {
    let caches = try layout.model.modelCaches()
    let statement = try connection.statement("INSERT OR ABORT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
    statement.bind(caches.plain, at: 1)
    try statement.run()
    var metadata = metadata
    metadata.elementColumns = layout.elementColumns
    if let complete = caches.complete { metadata.keep(complete, besideCache: caches.plain) }
    try metadata.write(connection)
  }

  var statements: [String] {
    tableStatements.map(\.sql) + indexStatements + DerivedTriggers(layout: layout).statements
      + layout.rTrees.flatMap { [$0.creation] + $0.triggers.map(\.sql) }
      + [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        Self.modelCacheTable,
      ]
  }

  static let modelCacheTable = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"

  /// The statements for the tables of rows and pairs.
  var tableStatements: [(table: String, sql: String)] {
    let facts = TableFacts(layout)
    return layout.tables.map { ($0.name, createTable($0)) }
      + layout.joins.map { ($0.table, createTable($0, facts: facts)) }
  }

  /// The statements for the indexes of these tables.
  var indexStatements: [String] {
    let facts = TableFacts(layout)
    return IndexNames(tables: layout.tables.map(\.name) + layout.joins.map(\.table)).statements(
      layout.tables.flatMap { standardIndexes($0, facts: facts) } + layout.joins.map(reverseIndex)
        + layout.entities.compactMap { $0 }.flatMap(declaredIndexes))
  }

  private func createTable(_ table: TableLayout) -> String {
    let columns =
      ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
      + table.orderedColumns.map { "\(identifier($0.name)) \($0.type)" }
    return "CREATE TABLE \(identifier(table.name)) ( \(columns.joined(separator: ", ")) )"
  }

  private func createTable(_ join: JoinLayout, facts: TableFacts) -> String {
    let keys = [join.ownerColumn, join.destinationColumn].map(identifier)
    let columns = keys + (facts.orders[join.table] ?? []).map(identifier)
    let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
    return "CREATE TABLE \(identifier(join.table)) ( \(list), PRIMARY KEY (\(keys.joined(separator: ", "))) )"
  }

  private func standardIndexes(_ table: TableLayout, facts: TableFacts) -> [IndexNames.Index] {
    let name = table.name
    let toOne = table.columns.filter { $0.rank == 1 && facts.keys[name]?.contains($0.name) == true }
    var result = toOne.map {
      IndexNames.Index(kind: "INDEX", name: "\(name)_\($0.name)_INDEX", table: name, columns: identifier($0.name))
    }
    if facts.shared.contains(name) {
      result.append(IndexNames.Index(kind: "INDEX", name: "\(name)_Z_ENT_INDEX", table: name, columns: "Z_ENT"))
    }
    return result
  }

  private func reverseIndex(_ join: JoinLayout) -> IndexNames.Index {
    IndexNames.Index(
      kind: "INDEX", name: "\(join.table)_\(join.destinationColumn)_INDEX", table: join.table,
      columns: "\(identifier(join.destinationColumn)), \(identifier(join.ownerColumn))")
  }

  // MARK: Indexes of the model

  private func declaredIndexes(_ entity: EntityLayout) -> [IndexNames.Index] {
    let description = entity.entity.description
    let fetch = description.indexes.compactMap { fetchIndex($0, of: entity) }
    let flagged = description.attributes.filter(\.isIndexed).compactMap { attribute in
      entity.column(of: [attribute.name]).map {
        create("INDEX", name: "Z_\(description.name)_\(attribute.name)", of: entity, terms: [(identifier($0), true)])
      }
    }
    let unique = description.uniquenessConstraints.compactMap { names -> IndexNames.Index? in
      let columns = names.compactMap { entity.column(of: [$0]) }
      guard columns.count == names.count, !columns.isEmpty else { return nil }
      let name = "Z_\(description.name)_UNIQUE_\(names.joined(separator: "_"))"
      return create("UNIQUE INDEX", name: name, of: entity, terms: columns.map { (identifier($0), true) })
    }
    return flagged + fetch + unique
  }

  /// An index of the model. Nil for an index that files cannot have; the model's checks report it.
  private func fetchIndex(_ index: FetchIndexDescription, of entity: EntityLayout) -> IndexNames.Index? {
    guard let stored = try? index.stored(in: entity.entity), stored.structure == .ordered else { return nil }
    let translator = IndexTranslator(entity, layout: layout, dialect: .sqlite)
    do {
      let terms = try stored.elements.map { (try term($0.term, of: entity, by: translator), $0.isAscending) }
      var result = create("INDEX", name: "Z_\(entity.entity.name)_\(index.name)", of: entity, terms: terms)
      result.condition = try stored.condition.map(translator.translate)
      return result
    } catch {
      return nil
    }
  }

  private func term(_ term: Expression, of entity: EntityLayout, by translator: IndexTranslator) throws -> String {
    guard case .keyPath(_, let keys) = term, let column = entity.column(of: keys) else {
      return try translator.translate(term)
    }
    return identifier(column)
  }

  private func create(
    _ kind: String, name: String, of entity: EntityLayout, terms: [(String, Bool)]
  ) -> IndexNames.Index {
    let list = terms.map { "\($0) COLLATE BINARY \($1 ? "ASC" : "DESC")" }.joined(separator: ", ")
    return IndexNames.Index(kind: kind, name: name, table: entity.table, columns: list)
  }

  // MARK: Numbers

  private func writePrimaryKeys(_ connection: Connection) throws {
    let statement = try connection.statement(
      "INSERT OR ABORT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)")
    for entity in layout.entities.compactMap({ $0 }) {
      statement.bind(entity.number, at: 1)
      statement.bind(entity.entity.name, at: 2)
      statement.bind(entity.entity.parent.map { layout.number($0) } ?? 0, at: 3)
      try statement.run()
    }
  }
}
