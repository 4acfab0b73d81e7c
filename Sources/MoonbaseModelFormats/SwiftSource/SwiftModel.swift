package import MoonbaseModel

/// The classes of a model as source of Swift.
///
/// ```swift
/// let source = try SwiftModel(model, name: "Shop")
/// for file in source.files { print(file.name, file.text) }
/// ```
///
/// Each class has a file of its own, for hooks and methods, which a person goes on with, and one with typed
/// properties, which is written anew when the model changes.
package struct SwiftModel {
  /// A file.
  package struct File {
    package let name: String
    package let text: String
    /// Whether it is written anew, and nobody changes it by hand.
    package let isWrittenAnew: Bool
  }

  /// The beginning of the first line of a file that is written anew.
  package static let mark = "// Written by `moonbase model swift`"

  private let classes: SwiftClasses
  private let model: ResolvedModel
  private let name: String
  private let isPublic: Bool

  /// Makes the source of a model's classes. Throws where a class or an entity has a name that Swift cannot have.
  package init(_ model: ResolvedModel, name: String, isPublic: Bool = false) throws(ModelError) {
    classes = try SwiftClasses(model)
    (self.model, self.name, self.isPublic) = (model, name, isPublic)
  }

  /// The files of all classes, and one that knows them by name.
  package var files: [File] {
    classes.classes.indices.flatMap { index in
      let name = classes.classes[index].name
      return [
        File(
          name: "\(name).swift", text: header(isAnew: false) + "\n" + declaration(index), isWrittenAnew: false),
        File(
          name: "\(name)+Properties.swift",
          text: header(isAnew: true, foundation: needsFoundation([index])) + "\n" + properties(index),
          isWrittenAnew: true),
      ]
    } + [
      File(name: "\(listName).swift", text: header(isAnew: true) + "\n" + list, isWrittenAnew: true)
    ]
  }

  /// All in one text.
  package var text: String {
    let indices = Array(classes.classes.indices)
    let parts = indices.flatMap { [declaration($0), properties($0)] } + [list]
    return ([header(isAnew: true, foundation: needsFoundation(indices))] + parts).joined(separator: "\n")
  }

  /// Names that could not stay, and entities without a class.
  package var notes: [String] {
    classes.classes.flatMap { type in
      type.renamed.map {
        "\(type.name): the property \($0.name) is \($0.swiftName) in Swift, where \($0.name) is taken"
      }
    }
      + (unnamed.isEmpty
        ? []
        : [
          "the model names no class for \(unnamed.joined(separator: ", ")): open it with \(listName).named(model), or "
            + "name the classes in the model"
        ])
  }

  private var unnamed: [String] {
    classes.classes.filter { $0.nameInModel == nil }.flatMap { $0.entities.map(\.name) }
  }

  private var listName: String {
    var name = "\(SwiftName.type(of: self.name))Classes"
    while classes.names.classes.contains(name) { name += "_" }
    return name
  }

  // MARK: Parts of a file

  private var access: String { isPublic ? "public " : "" }

  private func header(isAnew: Bool, foundation: Bool = false) -> String {
    let mark =
      isAnew
      ? ["\(Self.mark) of \(SwiftName.comment(name)): written anew, it loses what was changed here.", ""] : []
    let imports = (foundation ? ["Foundation"] : []) + ["Moonbase"]
    return (mark + imports.map { "\(access)import \($0)" }).joined(separator: "\n") + "\n"
  }

  private func needsFoundation(_ indices: [Int]) -> Bool {
    indices.contains { classes.classes[$0].properties.contains { SwiftTypeNames.isFoundations($0.type) } }
  }

  private func type(_ name: String) -> String { classes.names.written(name) }

  // MARK: Classes

  private func declaration(_ index: Int) -> String {
    let type = classes.classes[index]
    let parent = type.parent.map { classes.classes[$0].name } ?? self.type("ManagedObject")
    let entities = type.entities.map(\.name).joined(separator: ", ")
    let comment = type.entities.first.map { SwiftProperty.comment($0.description.userInfo, or: nil) } ?? []
    let lines = comment.isEmpty ? ["An object of the entity \(entities)."] : comment
    let hooks = type.parent == nil ? "[.willSave]" : "super.overriddenLifecycleMethods.union([.willSave])"
    return """
      \(lines.map { "/// \($0)" }.joined(separator: "\n"))
      \(isPublic ? "open " : "")class \(type.name): \(parent) {
        \(isPublic ? "open " : "")override class var keyPaths: [\(self.type("PropertyKeyPath"))] { \(type.nameOfKeyPaths) }

        // Hooks that may be overridden. Where hooks is overridden too, it names all of them, and saves are faster.
        // override class var overriddenLifecycleMethods: LifecycleHooks { \(hooks) }
        // override func awakeFromInsert() throws {}
        // override func awakeFromFetch() throws {}
        // override func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
        // override func willSave() throws {}
        // override func didSave() throws {}
        // override func prepareForDeletion() throws {}
        // override func willTurnIntoFault() throws {}
        // override func didTurnIntoFault() throws {}
        // override func validateForInsert() throws {}
        // override func validateForUpdate() throws {}
        // override func validateForDelete() throws {}
        // override func validateValue(_ value: inout Value, forKey key: String) throws {}
      }

      """
  }

  // MARK: Properties

  private func properties(_ index: Int) -> String {
    let type = classes.classes[index]
    let stored = type.properties.filter { if case .fetched = $0.kind { false } else { true } }
    let parts = [stored.map { key($0, of: type) }, [keyPaths(index)], type.properties.flatMap { member($0, of: type) }]
    let members = parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    return "extension \(type.name) {\n\(members.trimmed)\n}\n"
  }

  private func key(_ property: SwiftProperty, of type: SwiftClass) -> String {
    let kind =
      switch property.kind {
      case .attribute: "Attribute"
      case .toOne: "ToOne"
      case .toMany, .fetched: "ToMany"
      }
    return "  \(access)static let \(property.written) = \(self.type(kind))<\(type.name), \(property.type)>"
      + "(\(SwiftName.literal(property.name)))"
  }

  /// Which property each key path stands for, for predicates of Foundation's: inherited ones too, by this class.
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

  private func member(_ property: SwiftProperty, of type: SwiftClass) -> [String] {
    let comment = property.comment.map { "  /// \($0)" }
    let subscripted = "self[\(type.name).\(property.written)]"
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
  private func changes(of property: SwiftProperty, in type: SwiftClass) -> [String] {
    guard case .toMany(let isOrdered) = property.kind else { return [] }
    let name = type.methodName(of: property)
    let key = "\(type.name).\(property.written)"
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

  /// A method of one statement, on one line where that is short.
  private func method(_ head: String, _ body: String) -> [String] {
    let statement = body.hasPrefix("_ = ") ? "_ = try \(body.dropFirst(4))" : "try \(body)"
    let start = "  \(access)func \(head) throws {"
    let line = "\(start) \(statement) }"
    return line.count <= 120 ? [line] : [start, "    \(statement)", "  }"]
  }

  // MARK: The list of classes

  private var list: String {
    let unnamed = classes.classes.filter { $0.nameInModel == nil }
    let parts = [byName] + (unnamed.isEmpty ? [] : [named(unnamed)]) + templates
    return """
      /// The classes of the model, and its fetch requests.
      ///
      ///     PersistentContainer(model: model, store: store, classes: \(listName).byName)
      \(access)enum \(listName) {
      \(parts.joined(separator: "\n\n"))
      }

      """
  }

  private var byName: String {
    let kind = "[\(type("String")): \(type("ManagedObject")).Type]"
    let entries = classes.classes.map { type in
      let names = Set(type.entities.compactMap(\.description.managedObjectClassName)).sorted()
      return (names.isEmpty ? [type.name] : names).map { "\(SwiftName.literal($0)): \(type.name).self" }
    }
    let lines = entries.joined().map { "      \($0),\n" }.joined()
    return """
        /// Each class by the name that the model has for it.
        \(access)static var byName: \(kind) {
      \(lines.isEmpty ? "    [:]" : "    [\n\(lines)    ]")
        }
      """
  }

  private func named(_ unnamed: [SwiftClass]) -> String {
    let cases = unnamed.flatMap { type in
      type.entities.map { "      \(SwiftName.literal($0.name)): \(SwiftName.literal(type.name)),\n" }
    }
    return """
        /// The model with a class for each entity that names none.
        \(access)static func named(_ model: \(type("ManagedObjectModel"))) -> \(type("ManagedObjectModel")) {
          let names: [\(type("String")): \(type("String"))] = [
      \(cases.joined())    ]
          var model = model
          for index in model.entities.indices {
            if let name = names[model.entities[index].name] { model.entities[index].managedObjectClassName = name }
          }
          return model
        }
      """
  }

  /// A function for each fetch request of the model.
  private var templates: [String] {
    var taken: Set<String> = ["byName", "named"]
    return model.description.fetchRequestTemplates.sorted { $0.key < $1.key }.map { name, request in
      var method = SwiftName.isType(name) ? name : SwiftName.type(of: name)
      while !taken.insert(method).inserted { method += "_" }
      return template(name, request, method: method)
    }
  }

  private func template(_ name: String, _ request: FetchRequest, method: String) -> String {
    var known: Set<String> = []
    let all = (request.predicate?.freeVariables ?? []) + (request.havingPredicate?.freeVariables ?? [])
    let variables = all.filter { known.insert($0).inserted }
    var labels: Set<String> = ["context"]
    let parameters = variables.enumerated().map { index, variable in
      var label = SwiftName.isType(variable) ? SwiftName.uncapitalized(variable) : "value\(index + 1)"
      while !labels.insert(label).inserted { label += "_" }
      return (label: label, variable: variable)
    }
    let list = parameters.map { "\(SwiftName.written($0.label)): \(type("Value")), " }.joined()
    let values = parameters.map { "\(SwiftName.literal($0.variable)): \(SwiftName.written($0.label))" }
    let predicate = request.predicate.map { "  /// `\(SwiftName.comment("\($0)"))`\n" } ?? ""
    return predicate + """
        \(access)static func \(SwiftName.written(method))(
          \(list)in context: \(type("ManagedObjectContext"))
        ) throws -> \(type("FetchRequest")) {
          try context.fetchRequest(
            fromTemplate: \(SwiftName.literal(name)), substituting: [\(values.isEmpty ? ":" : values.joined(separator: ", "))])
        }
      """
  }
}

extension String {
  /// Without empty lines at its end.
  fileprivate var trimmed: String {
    var text = self
    while text.last == "\n" { text.removeLast() }
    return text
  }
}
