package import MoonbaseGraph
package import MoonbaseModel

/// The features of a model that the file lacks, collected while the layout is built.
///
/// A missing feature is reported once when the store is opened (`MissingFeature`), and reading it throws the same
/// error. The rest of the file stays readable.
package struct LayoutLacks: Sendable {
  /// The missing features, in the order in which they were found.
  package fileprivate(set) var features: [MissingFeature] = []
  /// The errors for missing tables, by the topmost entity of the table.
  package fileprivate(set) var tables: [EntityIndex: GraphError] = [:]

  package init() {}

  /// Records a feature and returns the error for reading it.
  private mutating func note(_ feature: MissingFeature, in path: String) -> GraphError {
    features.append(feature)
    return feature.error(in: path)
  }

  /// Notes that the table of an entity and its subentities is missing.
  mutating func note(table: String, of entity: ResolvedEntity, path: String) {
    let kin = entity.hasSubentities ? " and its subentities" : ""
    tables[entity.index] = note(
      MissingFeature(
        entity: entity.name, table: table,
        reason: "it has no table \(table), so objects of \(entity.name)\(kin) cannot be read",
        advice: "restore the store from a backup that has it"), in: path)
  }

  /// A column that is missing, or has another type.
  struct Column {
    /// The name in upper case.
    let name: String
    /// The type that the layout requires.
    let type: String
    /// The type in the file. Nil for a missing column.
    let present: String?
    /// The name of the table.
    let table: String
    private let file: FileSchema?

    /// Describes a column of a table in a file.
    init(name: String, type: String, present: String? = nil, table: String, in file: FileSchema?) {
      (self.name, self.type, self.present, self.table, self.file) = (name, type, present, table, file)
    }

    /// The statement that adds the column, or the statements that change its type.
    var statement: String {
      let table = [file?.name, table].compactMap(\.self).map(identifier).joined(separator: "."), name = identifier(name)
      guard present != nil else { return "ALTER TABLE \(table) ADD COLUMN \(name) \(type)" }
      let cast = type.replacing(#/ COLLATE .*/#, with: "")
      let change = "ALTER TABLE \(table) ALTER COLUMN \(name) TYPE \(type) USING \(name)::\(cast)"
      return [file?.preparation, change].compactMap(\.self).joined(separator: "; ")
    }
  }

  /// Notes a column that is missing or has another type. `content` is what a further column of a relationship holds;
  /// nil for the property itself, which then cannot be read. Returns the error for reading the property. The advice
  /// contains a statement that puts the column right.
  mutating func note(
    _ column: Column, holding content: String?, of property: String, entity: ResolvedEntity, path: String
  ) -> GraphError {
    let loss = content.map { "which holds \($0)" } ?? "so \(entity.name).\(property) cannot be read"
    let (table, name) = (column.table, column.name)
    return note(
      MissingFeature(
        entity: entity.name, property: property, table: table,
        reason: column.present.map {
          "column \(name) of table \(table) has the type \($0), and not \(column.type), \(loss)"
        }
          ?? "table \(table) has no column \(name), \(loss)",
        advice: "restore the store from a backup, or "
          + (column.present == nil ? "add the column without values" : "give the column its type")
          + " (\(column.statement))"), in: path)
  }

  /// Notes that a many-to-many relationship has no usable pair table.
  mutating func note(
    pairs lack: String, table: String, of property: String, entity: ResolvedEntity, path: String
  ) -> GraphError {
    note(
      MissingFeature(
        entity: entity.name, property: property, table: table,
        reason: "\(lack) for \(entity.name).\(property), so the relationship cannot be read",
        advice: "restore the store from a backup that has it"), in: path)
  }

  /// Notes a composite attribute whose elements have no known columns. `obstacle` says which element has no column, or
  /// several.
  mutating func note(
    elements obstacle: String, of attribute: AttributeDescription, entity: ResolvedEntity, table: String, path: String
  ) -> GraphError {
    note(
      MissingFeature(
        entity: entity.name, property: attribute.name, table: table,
        reason: "in which columns of \(table) the elements of \(entity.name).\(attribute.name) lie cannot be told "
          + "(\(obstacle)), so \(entity.name).\(attribute.name) cannot be read",
        advice: "write the store with Core Data, or give what it holds attributes of their own"), in: path)
  }

  /// Notes an attribute of a type whose stored form is not known.
  mutating func noteForm(
    of attribute: AttributeDescription, entity: ResolvedEntity, table: String, path: String
  ) -> GraphError {
    note(
      MissingFeature(
        entity: entity.name, property: attribute.name, table: table,
        reason:
          "how a store keeps values of the type \(attribute.type) is not known, so \(entity.name).\(attribute.name) "
          + "cannot be read",
        advice: "write the store with Core Data, or give what it holds attributes of their own"), in: path)
  }
}
