import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
package import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// Makes the tables and indexes of a new store, with the SQL that Core Data uses.
///
/// Also used by migrations, for the tables and indexes of the new file. The text of the statements is compared with
/// files that Core Data made, so spaces and quotes matter. Nothing is read except for the layout.
package struct SchemaWriter {
  /// The tables and columns of the store.
  package let layout: StoreLayout
  /// The UUID, the version hashes and further entries.
  package let metadata: StoreMetadata

  /// Prepares to write the tables of a layout with the metadata of the store.
  package init(layout: StoreLayout, metadata: StoreMetadata) {
    self.layout = layout
    self.metadata = metadata
  }

  /// Makes all tables, indexes and metadata in the caller's transaction. The file must be empty. Not transactional by
  /// itself.
  func write(_ connection: Connection) throws {
    for sql in statements { try connection.executeScript(sql) }
    try writePrimaryKeys(connection)
    try writeModel(connection)
  }

  /// Inserts the model and the metadata into their tables, which must be empty. A model that Core Data cannot decode
  /// completely is kept a second time among the metadata (`StoreMetadata.keep`).
  package func writeModel(_ connection: Connection) throws {
    let caches = try layout.model.modelCaches()
    let statement = try connection.statement("INSERT OR ABORT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
    statement.bind(caches.plain, at: 1)
    try statement.run()
    var metadata = metadata
    metadata.elementColumns = layout.elementColumns
    if let complete = caches.complete { metadata.keep(complete, besideCache: caches.plain) }
    try metadata.write(connection)
  }

  /// All `CREATE` statements, in Core Data's order.
  var statements: [String] {
    tableStatements.map(\.sql) + indexStatements + DerivedTriggers(layout: layout).statements
      + layout.rTrees.flatMap { [$0.creation] + $0.triggers.map(\.sql) }
      + [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        Self.modelCacheTable,
      ]
  }

  /// The table with the archived model.
  package static let modelCacheTable = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"

  /// The statements for the tables of rows and pairs. First come the tables of objects, then the pair tables.
  package var tableStatements: [(table: String, sql: String)] {
    let facts = TableFacts(layout)
    return layout.tables.map { ($0.name, createTable($0)) }
      + layout.joins.map { ($0.table, createTable($0, facts: facts)) }
  }

  /// The statements for the indexes of these tables. The order is: indexes of keys, of pair tables, and those of the
  /// model. Names are unique within the file.
  package var indexStatements: [String] {
    let facts = TableFacts(layout)
    return IndexNames(tables: layout.tables.map(\.name) + layout.joins.map(\.table)).statements(
      layout.tables.flatMap { standardIndexes($0, facts: facts) } + layout.joins.map(reverseIndex)
        + layout.entities.compactMap { $0 }.flatMap(declaredIndexes))
  }

  /// The key, entity number and version come first, then the columns in the order of the format.
  private func createTable(_ table: TableLayout) -> String {
    let columns =
      ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
      + table.orderedColumns.map { "\(identifier($0.name)) \($0.type)" }
    return "CREATE TABLE \(identifier(table.name)) ( \(columns.joined(separator: ", ")) )"
  }

  /// The primary key covers both keys, and columns with positions follow.
  private func createTable(_ join: JoinLayout, facts: TableFacts) -> String {
    let keys = [join.ownerColumn, join.destinationColumn].map(identifier)
    let columns = keys + (facts.orders[join.table] ?? []).map(identifier)
    let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
    return "CREATE TABLE \(identifier(join.table)) ( \(list), PRIMARY KEY (\(keys.joined(separator: ", "))) )"
  }

  /// An index for each to-one column, and one on `Z_ENT` for a table of several entities.
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

  /// The primary key serves lookups by owner; this index serves lookups by destination.
  private func reverseIndex(_ join: JoinLayout) -> IndexNames.Index {
    IndexNames.Index(
      kind: "INDEX", name: "\(join.table)_\(join.destinationColumn)_INDEX", table: join.table,
      columns: "\(identifier(join.destinationColumn)), \(identifier(join.ownerColumn))")
  }

  // MARK: Indexes of the model

  /// Indexed attributes, fetch indexes and uniqueness constraints, in this order.
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

  /// An index of the model. Nil for an index that files cannot have; the model's checks report it. Spatial indexes are
  /// R-trees and not made here.
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

  /// A column, or the SQL of an expression.
  private func term(_ term: Expression, of entity: EntityLayout, by translator: IndexTranslator) throws -> String {
    guard case .keyPath(_, let keys) = term, let column = entity.column(of: keys) else {
      return try translator.translate(term)
    }
    return identifier(column)
  }

  /// `terms` are quoted SQL with the direction: true for ascending.
  private func create(
    _ kind: String, name: String, of entity: EntityLayout, terms: [(String, Bool)]
  ) -> IndexNames.Index {
    let list = terms.map { "\($0) COLLATE BINARY \($1 ? "ASC" : "DESC")" }.joined(separator: ", ")
    return IndexNames.Index(kind: kind, name: name, table: entity.table, columns: list)
  }

  // MARK: Numbers

  /// Each entity gets a row with `Z_MAX` 0; the first key of a new store is 1.
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
