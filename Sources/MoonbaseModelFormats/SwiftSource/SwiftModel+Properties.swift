import MoonbaseModel

// The generated files: typed properties, their keys and the enumerations of their values.

extension SwiftModel {
  /// The extensions of a class: its keys and properties, and the keys for its subclasses.
  ///
  /// `index` is that of the class in `classes`. The result is the body of the file
  /// `Name+Properties.swift`.
  func properties(_ index: Int) -> String {
    let type = classes.classes[index]
    let stored = type.properties.filter { if case .fetched = $0.kind { false } else { true } }
    let parts = [
      keys(stored, of: type), type.properties.flatMap(enumeration), [keyPaths(index)],
      type.properties.flatMap { member($0, of: type) },
    ]
    let members = parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n").trimmed }.joined(separator: "\n\n")
    let properties = "nonisolated extension \(type.name) {\n\(members.trimmed)\n}\n"
    return ([properties] + inheritedKeys(stored, of: type)).joined(separator: "\n")
  }

  // MARK: Keys

  /// The lines of the enumeration `Keys`, whose members are typed keys.
  private func keys(_ properties: [SwiftProperty], of type: SwiftClass) -> [String] {
    if properties.isEmpty { return [] }
    return ["  \(access)nonisolated enum Keys {"]
      + properties.map { property in
        "    \(access)static let \(property.written) = \(key(property, of: type.name))(\(SwiftName.literal(property.name)))"
      } + ["  }"]
  }

  /// The keys declared over `Self`, so that a subclass has them for its own objects.
  ///
  /// For example, `Employee.name` is a key of `Employee` although `Person` declares it.
  private func inheritedKeys(_ properties: [SwiftProperty], of type: SwiftClass) -> [String] {
    if properties.isEmpty { return [] }
    let lines = properties.map { property in
      "  \(access)static var \(property.written): \(key(property, of: "Self")) { .init(\(type.name).Keys.\(property.written)) }"
    }
    let head = "nonisolated extension \(self.type("TypedObject")) where Self: \(type.name) {"
    return ["\(head)\n\(lines.joined(separator: "\n"))\n}\n"]
  }

  /// The type of a property's key.
  ///
  /// `owner` is the class, or `Self`.
  private func key(_ property: SwiftProperty, of owner: String) -> String {
    let kind =
      switch property.kind {
      case .attribute: "Attribute"
      case .toOne: "ToOne"
      case .toMany, .fetched: "ToMany"
      }
    return "\(type(kind))<\(owner), \(property.type)>"
  }

  /// The lines of the enumeration of a property's values; empty without an enumeration.
  private func enumeration(_ property: SwiftProperty) -> [String] {
    guard let (name, enumeration) = property.enumeration else { return [] }
    let kinds = [enumeration.rawType, "AttributeValue", "CaseIterable", "Codable"].map(type).joined(separator: ", ")
    let cases = enumeration.cases.map { name, literal in
      "    case \(SwiftName.written(name))" + (literal == SwiftName.literal(name) ? "" : " = \(literal)")
    }
    return [
      "  /// The values of `\(property.name)`.", "  \(access)nonisolated enum \(name): \(kinds) {",
      cases.joined(separator: "\n"), "",
      "    /// The case for a missing value.",
      "    \(access)static var defaultWhenNull: \(name) { .\(SwiftName.written(enumeration.missing)) }", "  }", "",
    ]
  }

  /// The key paths of all properties including inherited ones, for Foundation's predicates.
  ///
  /// The list is a static property named by `nameOfKeyPaths`.
  private func keyPaths(_ index: Int) -> String {
    let name = classes.classes[index].name
    let known = classes.allProperties(of: index).filter { if case .fetched = $0.kind { false } else { true } }
    let kind = type("PropertyKeyPath")
    let lines = known.map { "    paths.append(\(kind)(\\\(name).\($0.written), \(name).\($0.written)))" }
    let body = lines.isEmpty ? "[]" : ""
    guard body.isEmpty else {
      return "  \(access)static var \(classes.classes[index].nameOfKeyPaths): [\(kind)] { [] }"
    }
    return """
        \(access)static var \(classes.classes[index].nameOfKeyPaths): [\(kind)] {
          var paths: [\(kind)] = []
      \(lines.joined(separator: "\n"))
          return paths
        }
      """
  }

  // MARK: Members

  /// The lines of a property: a getter for fetched and derived properties, a getter and a setter
  /// for others.
  private func member(_ property: SwiftProperty, of type: SwiftClass) -> [String] {
    let comment = property.comment.map { "  /// \($0)" }
    let subscripted = "self[\(type.name).Keys.\(property.written)]"
    let head = "  \(access)var \(property.written): \(property.valueType)"
    switch property.kind {
    case .fetched:
      return comment + [
        "\(head) {", "    get throws {",
        "      try fetchedObjects(forKey: \(SwiftName.literal(property.name))).compactMap { $0 as? \(property.type) }",
        "    }", "  }", "",
      ]
    case .attribute(let attribute) where attribute.derivationExpression != nil:
      return comment + ["\(head) { \(subscripted) }", ""]
    default:
      let accessors = ["\(head) {", "    get { \(subscripted) }", "    set { \(subscripted) = newValue }", "  }", ""]
      return comment + accessors + changes(of: property, in: type)
    }
  }

  /// Methods that change a to-many relationship by its members.
  ///
  /// For a relationship `people` the methods are named addToPeople and removeFromPeople, as in
  /// classes that Xcode generates. An ordered relationship also has insertIntoPeople and
  /// replacePeople.
  private func changes(of property: SwiftProperty, in type: SwiftClass) -> [String] {
    guard case .toMany(let isOrdered) = property.kind else { return [] }
    let name = type.methodName(of: property)
    let key = "\(type.name).Keys.\(property.written)"
    let view = isOrdered ? "mutableOrderedSet(\(key))" : "mutableSet(\(key))"
    let many = "some \(self.type("Sequence"))<\(property.type)>"
    let literal = SwiftName.literal(property.name)
    let plain = [
      ("addTo\(name)(_ object: \(property.type))", "add(object, to: \(literal))"),
      ("removeFrom\(name)(_ object: \(property.type))", "remove(object, from: \(literal))"),
      (
        "addTo\(name)(_ objects: \(many))",
        "\(view).\(isOrdered ? "append(contentsOf: objects)" : "formUnion(objects)")"
      ),
      (
        "removeFrom\(name)(_ objects: \(many))",
        isOrdered ? "objects.forEach { try remove($0, from: \(literal)) }" : "\(view).subtract(objects)"
      ),
    ]
    let index = self.type("Int")
    let ordered = [
      ("insertInto\(name)(_ object: \(property.type), at index: \(index))", "\(view).insert(object, at: index)"),
      ("removeFrom\(name)(at index: \(index))", "_ = \(view).remove(at: index)"),
      (
        "replace\(name)(at index: \(index), with object: \(property.type))",
        "\(view).replace(at: index, with: object)"
      ),
    ]
    return (plain + (isOrdered ? ordered : [])).flatMap { method($0.0, $0.1) } + [""]
  }

  /// A method with a single statement, on one line if short enough.
  ///
  /// A line has at most 120 columns.
  private func method(_ head: String, _ body: String) -> [String] {
    let statement = body.hasPrefix("_ = ") ? "_ = try \(body.dropFirst(4))" : "try \(body)"
    let start = "  \(access)func \(head) throws {"
    let line = "\(start) \(statement) }"
    return line.count <= 120 ? [line] : [start, "    \(statement)", "  }"]
  }
}

extension String {
  /// The text without trailing line breaks.
  var trimmed: String {
    var text = self
    while text.last == "\n" { text.removeLast() }
    return text
  }
}
