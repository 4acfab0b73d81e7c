import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Checks a file's text encoding and declared column types. Some of them make SQLite compare values differently than
/// memory does, or change values as they are written. The values of such columns are compared in memory only, and the
/// file is opened read-only.
///
/// The rules are those of SQLite's affinities (<https://www.sqlite.org/datatype3.html>). For example, a string column
/// declared `INTEGER` would turn `"007"` into `7`. Made once per opening.
struct ColumnDeclarations {
  /// The connection of the store.
  private let connection: Connection
  /// The encoding of the file's text, if it is not UTF-8. SQLite then compares other bytes.
  let otherEncoding: MissingFeature?

  /// Reads the encoding of the file.
  init(_ connection: Connection) throws {
    self.connection = connection
    let encoding = try connection.text("PRAGMA encoding") ?? "UTF-8"
    otherEncoding =
      encoding == "UTF-8"
      ? nil
      : MissingFeature(
        reason:
          "it keeps its text in \(encoding), by which SQLite compares it in another order; a Core Data store keeps UTF-8",
        advice: "copy the tables into a new database")
  }

  /// The mismatches of a file. Notes the affected columns in its layout. Columns that are declared as the format
  /// prescribes are skipped without asking SQLite. Each mismatch has the column and the correct declaration.
  func features(_ layout: inout StoreLayout, in schema: FileSchema) throws -> [MissingFeature] {
    var features = [otherEncoding].compactMap(\.self)
    layout.keepsUTF16 = otherEncoding != nil
    for case let entity? in layout.entities {
      let table = schema.tables[entity.table] ?? schema.tables[entity.table.uppercased()]
      try ModelError.chargeEntity()
      for property in entity.entity.properties where property.declaringEntity == entity.entity.index {
        for (path, column, kind) in Self.columns(of: entity.slots[property.slot]) {
          if layout.keepsUTF16, kind == .string || kind == .uri { layout.comparedInMemory.insert(property.id) }
          // The declared type is that of the format.
          if let types = table?.types, let place = table?.place(column), types[place] == kind.declaredType { continue }
          guard let declaration = connection.declaration(of: column, in: entity.table),
            let mistake = mistake(declaration, kind: kind)
          else { continue }
          layout.comparedInMemory.insert(property.id)
          let name = ([entity.entity.name, property.name] + path).joined(separator: ".")
          features.append(
            MissingFeature(
              entity: entity.entity.name, property: property.name, table: entity.table,
              reason: "column \(column) of table \(entity.table), which holds \(name), \(mistake)",
              advice: "declare it as \(kind.declaredType)"))
        }
      }
    }
    return features
  }

  /// The columns of attributes and of composites' elements.
  private static func columns(of slot: SlotLayout) -> [(path: [String], column: String, kind: ColumnKind)] {
    switch slot {
    case .attribute(let column, let kind): [([], column, kind)]
    case .composite(let composite): composite.leaves.map { ($0.path, $0.column, $0.kind) }
    case .none, .lost, .toOne, .foreignKey, .join: []
    }
  }

  /// The end of a sentence about the column; nil for a harmless declaration.
  private func mistake(_ declaration: (type: String, collation: String), kind: ColumnKind) -> String? {
    if declaration.type == kind.declaredType, declaration.collation == "BINARY" { return nil }
    switch kind {
    case .string, .uri:
      if declaration.collation.uppercased() != "BINARY" {
        return "compares its texts by COLLATE \(declaration.collation), which takes different ones for equal"
      }
      let isKept = [Affinity.text, .none].contains(Affinity(declaring: declaration.type))
      return isKept ? nil : "is of type \(declaration.type), which turns texts into numbers"
    case .integer64:
      let isRounded = Affinity(declaring: declaration.type) == .real
      return isRounded ? "is of type \(declaration.type), which rounds large integers" : nil
    default: return nil
    }
  }

  /// The affinity of a column, by SQLite's rules for declared types.
  ///
  /// The order of the tests is part of the rules: `CHARINT` is an integer.
  private enum Affinity {
    /// SQLite's five affinities; `none` is called BLOB in its documentation.
    case integer, text, none, real, numeric

    /// `type` is the declared type, such as `VARCHAR(20)`.
    init(declaring type: String) {
      let type = type.uppercased()
      func names(_ words: String...) -> Bool { words.contains { type.contains($0) } }
      self =
        names("INT")
        ? .integer
        : names("CHAR", "CLOB", "TEXT")
          ? .text : type.isEmpty || names("BLOB") ? .none : names("REAL", "FLOA", "DOUB") ? .real : .numeric
    }
  }
}
