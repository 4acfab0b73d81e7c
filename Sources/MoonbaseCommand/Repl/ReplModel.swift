import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Shows the entities of a model, or the properties of an entity, as a table.
///
/// The command `.model` uses it.
struct ReplModel {
  /// The model of the context.
  private let model: ResolvedModel

  /// Creates the view of a model.
  ///
  /// - Parameter model: The model of the context.
  init(_ model: ResolvedModel) { self.model = model }

  /// Prints the properties of an entity, or all entities if the name is empty.
  ///
  /// - Throws: `.unknownName` with a suggestion.
  func show(_ name: String) throws {
    if name.isEmpty { return list() }
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    list(entity)
  }

  /// Prints all entities with their parents and the names of their properties.
  private func list() {
    guard !model.entities.isEmpty else { return Terminal.print("the model has no entities") }
    var table = Table(["entity", "parent", "attributes", "relationships"])
    for entity in model.entities.sorted(by: { $0.name < $1.name }) {
      let attributes = entity.allProperties.filter { $0.relationship == nil }.map(\.name)
      let relationships = entity.properties.filter { $0.relationship != nil }.map(\.name)
      table.add([
        entity.name, entity.parent.map { model.entities[$0].name } ?? "", attributes.joined(separator: ", "),
        relationships.joined(separator: ", "),
      ])
    }
    table.print()
  }

  /// Prints the properties of an entity with their types and rules.
  private func list(_ entity: ResolvedEntity) {
    var table = Table([entity.name, "is", "rules"])
    for property in entity.allProperties {
      table.add([property.name, kind(of: property, entity), rules(of: property)])
    }
    for (name, fetched) in entity.fetchedProperties.sorted(by: { $0.key < $1.key }) {
      table.add([name, "fetches \(fetched.fetchRequest.entityName)", ""])
    }
    table.print()
  }

  /// The type in words, such as `integer16` or `many ordered Person`.
  private func kind(of property: ResolvedProperty, _ entity: ResolvedEntity) -> String {
    switch property.kind {
    case .toOne(let relationship): return "one \(model.destination(of: relationship).name)"
    case .toMany(let relationship):
      let order = relationship.description.isOrdered ? "ordered " : ""
      return "many \(order)\(model.destination(of: relationship).name)"
    case .attribute(let attribute):
      return entity.isAdded(property.slot) ? "\(attribute.type.modelName), derived" : attribute.type.modelName
    }
  }

  /// The rules and the default in words.
  private func rules(of property: ResolvedProperty) -> String {
    var words = property.isRequired ? ["required"] : []
    if property.isTransient { words.append("transient") }
    if case .attribute(let attribute) = property.kind {
      words += rules(of: attribute.validation)
      if !attribute.defaultValue.isNull { words.append("default \(attribute.defaultValue)") }
      if let expression = attribute.derivationExpression { words.append("derived: \(expression)") }
      if let name = attribute.valueTransformerName { words.append("transformer \(name)") }
    } else if let inverse = property.relationship?.description.inverseName {
      words.append("inverse \(inverse)")
    }
    return words.joined(separator: ", ")
  }

  /// The rules about the value of an attribute.
  private func rules(of validation: AttributeValidation) -> [String] {
    let parts: [(String, String?)] = [
      ("min", validation.minimum?.description), ("max", validation.maximum?.description),
      ("min length", validation.minimumLength?.description), ("max length", validation.maximumLength?.description),
      ("matches", validation.regularExpression),
      ("one of", validation.allowedValues.map { $0.map(\.description).joined(separator: " ") }),
    ]
    return parts.compactMap { name, text in text.map { "\(name) \($0)" } } + validation.predicates.map(\.message)
  }

  /// A table, or a list if the table does not fit in the terminal. Names are never truncated, because a part of a name
  /// identifies nothing.
  private struct Table {
    /// The headings.
    private let columns: [String]
    /// The rows, with as many cells as there are columns.
    private var rows: [[String]] = []

    /// Creates a table without rows.
    ///
    /// - Parameter columns: The headings.
    init(_ columns: [String]) { self.columns = columns }

    /// Adds a row. Line ends in cells are replaced.
    mutating func add(_ cells: [String]) { rows.append(cells.map(\.inOneLine)) }

    /// Prints the table, or the list if the table is too wide.
    func print() {
      let width = TerminalWidth.columns
      let widths = columns.indices.map { index in
        ([columns] + rows).map { DisplayWidth.of($0[index]) }.max() ?? 0
      }
      let isTable = widths.reduce(2 * (columns.count - 1), +) <= width
      Terminal.write(isTable ? table : list(width))
    }

    /// The rows with aligned columns.
    private var table: String {
      var lines = TableLines(columns: columns)
      var bytes: [UInt8] = []
      // No value is truncated.
      for row in rows {
        lines.add(row, isNumber: row.map { _ in false }, isID: row.map { _ in true }, to: &bytes)
      }
      lines.finish(&bytes)
      return String(decoding: bytes, as: UTF8.self)
    }

    /// The rows below each other, with a line for each cell.
    private func list(_ width: Int) -> String {
      rows.map { row in
        let rest = zip(columns, row).dropFirst().filter { !$1.isEmpty }
        return ([row[0]] + rest.map { WrappedText.lines("\($0): \($1)", width: width, indent: 2, hanging: 4) })
          .joined(separator: "\n") + "\n"
      }.joined()
    }
  }
}
