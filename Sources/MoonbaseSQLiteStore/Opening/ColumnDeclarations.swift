import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Looks at what a file says of its texts and columns that would make SQLite compare values otherwise than memory does, or change them
/// as they are written: without a word of it a search would find other objects.
struct ColumnDeclarations {
  let connection: Connection
  let path: String

  /// Throws `.invalidStore` for a file whose text is not in UTF-8: it compares by the bytes of another encoding.
  func checkEncoding() throws {
    guard let encoding = try connection.text("PRAGMA encoding"), encoding != "UTF-8" else { return }
    throw GraphError(
      .invalidStore,
      message:
        "\(path) keeps its text in \(encoding), by which SQLite compares it in another order; a Core Data store keeps UTF-8: "
        + "copy the tables into a new database")
  }

  /// Throws `.invalidStore` for a column that compares or keeps values in a way of its own.
  func check(_ layout: StoreLayout) throws {
    for case let entity? in layout.entities {
      try ModelError.chargeEntity()
      for property in entity.entity.properties where property.declaringEntity == entity.entity.index {
        guard case .attribute(let column, let kind) = entity.slots[property.slot],
          let declaration = connection.declaration(of: column, in: entity.table),
          let mistake = mistake(declaration, kind: kind)
        else { continue }
        throw GraphError(
          .invalidStore,
          message:
            "\(path): column \(column) of table \(entity.table), which holds \(entity.entity.name).\(property.name), "
            + "\(mistake): declare it as \(kind.declaredType)",
          entity: entity.entity.name, property: property.name)
      }
    }
  }

  private func mistake(_ declaration: (type: String, collation: String), kind: ColumnKind) -> String? {
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

  /// What a column makes of what is written to it, by SQLite's rules for declared types.
  private enum Affinity {
    case integer, text, none, real, numeric

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
