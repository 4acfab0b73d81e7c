import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The entities of a model, or the properties of one, as a table.
struct ReplModel {
  private let model: ResolvedModel

  init(_ model: ResolvedModel) { self.model = model }

  func show(_ name: String) throws {
    if name.isEmpty { return list() }
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    list(entity)
  }

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

  private func rules(of validation: AttributeValidation) -> [String] {
    let parts: [(String, String?)] = [
      ("min", validation.minimum?.description), ("max", validation.maximum?.description),
      ("min length", validation.minimumLength?.description), ("max length", validation.maximumLength?.description),
      ("matches", validation.regularExpression),
      ("one of", validation.allowedValues.map { $0.map(\.description).joined(separator: " ") }),
    ]
    return parts.compactMap { name, text in text.map { "\(name) \($0)" } } + validation.predicates.map(\.message)
  }

  /// A table that fits in the terminal.
  private struct Table {
    private var lines: TableLines
    private var bytes: [UInt8] = []
    private let count: Int

    init(_ columns: [String]) {
      lines = TableLines(columns: columns, room: TerminalWidth.columns)
      count = columns.count
    }

    mutating func add(_ cells: [String]) {
      // Names are whole: a part of one names nothing.
      lines.add(cells, isNumber: cells.map { _ in false }, isID: cells.indices.map { $0 == 0 }, to: &bytes)
    }

    mutating func print() {
      lines.finish(&bytes)
      Terminal.write(String(decoding: bytes, as: UTF8.self))
    }
  }
}
