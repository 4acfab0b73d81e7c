package import MoonbaseModel

/// The Swift source of a model's classes.
///
/// ```swift
/// let source = try SwiftModel(model, name: "Shop")
/// for file in source.files { print(file.name, file.text) }
/// ```
///
/// Each class has a file for hooks and methods, which a user edits, and a file with typed properties, which is
/// regenerated when the model changes.
package struct SwiftModel {
  /// A source file.
  package struct File {
    /// The name of the file.
    package let name: String
    /// The text.
    package let text: String
    /// Whether the file is regenerated and not edited.
    package let isWrittenAnew: Bool
  }

  /// The beginning of a generated file's first line.
  package static let mark = "// Written by `moonbase model swift`"

  /// The classes with their properties.
  let classes: SwiftClasses
  /// The model.
  private let model: ResolvedModel
  /// The name of the model, for the list of classes and comments.
  private let name: String
  /// Whether declarations are public.
  private let isPublic: Bool

  /// Generates the source of a model's classes. Throws if a class or an entity has an invalid name in Swift.
  ///
  /// The error is `.invalidModel` and names all entities with invalid names.
  package init(_ model: ResolvedModel, name: String, isPublic: Bool = false) throws(ModelError) {
    classes = try SwiftClasses(model)
    (self.model, self.name, self.isPublic) = (model, name, isPublic)
  }

  /// The files of all classes, and a file that lists the classes by name.
  ///
  /// The result is the same for equal models, so that files change only with the model.
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

  /// All source in a single text, without the classes that a program declares itself.
  ///
  /// `own` are the names of these classes.
  package func text(besides own: Set<String> = []) -> String {
    let indices = Array(classes.classes.indices)
    let parts =
      indices.flatMap { index in
        (own.contains(classes.classes[index].name) ? [] : [declaration(index)]) + [properties(index)]
      } + [list]
    return ([header(isAnew: true, foundation: needsFoundation(indices))] + parts).joined(separator: "\n")
  }

  /// Notes about changed names and entities without a class.
  package var notes: [String] {
    classes.classes.flatMap { type in
      type.renamed.map {
        "\(type.name): the property \($0.name) is \($0.swiftName) in Swift, where \($0.name) is taken"
      }
        + type.properties.compactMap(\.enumeration).flatMap { name, enumeration in
          enumeration.renamed.map {
            "\(type.name).\(name): the case of \($0.literal) is \($0.name), where the name of the value is taken"
          }
        }
    }
      + (unnamed.isEmpty
        ? []
        : [
          "the model names no class for \(unnamed.flatMap(\.entities).map(\.name).joined(separator: ", ")): open it with \(listName).named(model), or "
            + "name the classes in the model"
        ])
  }

  /// The classes of entities that name no class.
  private var unnamed: [SwiftClass] { classes.classes.filter { $0.nameInModel == nil } }

  /// The name of the enumeration with the list of classes, as `ShopClasses`.
  private var listName: String {
    var name = "\(SwiftName.type(of: self.name))Classes"
    while classes.names.classes.contains(name) { name += "_" }
    return name
  }

  // MARK: Parts of a file

  /// The access modifier before declarations, with a space; empty for internal ones.
  var access: String { isPublic ? "public " : "" }

  /// The first lines of a file: the mark of generated files, and imports.
  private func header(isAnew: Bool, foundation: Bool = false) -> String {
    let mark =
      isAnew
      ? ["\(Self.mark) of \(SwiftName.comment(name)). The next run overwrites changes of this file.", ""] : []
    let imports = (foundation ? ["Foundation"] : []) + ["Moonbase"]
    return (mark + imports.map { "\(access)import \($0)" }).joined(separator: "\n") + "\n"
  }

  /// Whether a property of the classes has a type of Foundation.
  private func needsFoundation(_ indices: [Int]) -> Bool {
    indices.contains { classes.classes[$0].properties.contains { SwiftTypeNames.isFoundations($0.type) } }
  }

  /// The name of a type, with its module if a class has the same name.
  func type(_ name: String) -> String { classes.names.written(name) }

  // MARK: Classes

  /// The declaration of a class, with the hooks as comments.
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

        // Hooks that may be overridden. Saves are faster where overriddenLifecycleMethods names the overridden ones.
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

  // MARK: The list of classes

  /// The enumeration with the list of classes, the model and functions for templates.
  private var list: String {
    let parts = [byName] + embeddedModel + (unnamed.isEmpty ? [] : [named(unnamed)]) + templates
    return """
      /// The classes of the model, and its fetch requests.
      ///
      ///     PersistentContainer(model: \(listName).model, store: store, classes: \(listName).byName)
      \(access)nonisolated enum \(listName) {
      \(parts.joined(separator: "\n\n"))
      }

      """
  }

  /// The dictionary from class names to classes.
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

  /// The model itself, with a class for each entity; empty if a value cannot be expressed in Lua.
  private var embeddedModel: [String] {
    guard let source = try? namedModel.luaSource().trimmed else { return [] }
    var marks = "#"
    while source.contains("\"\"\"\(marks)") || source.contains("\\\(marks)") { marks += "#" }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "    \($0)" }
    return [
      """
        /// The model as it was when the classes were made, with a class for each entity.
        \(access)static var model: \(type("ManagedObjectModel")) {
          get throws { try \(type("LuaModelFile"))().read(\(type("ScriptSource"))(name: \(SwiftName.literal(name)), text: source)) }
        }

        private static let source: \(type("String")) = \(marks)\"""
      \(lines.joined(separator: "\n"))
          \"""\(marks)
      """
    ]
  }

  /// The model in which each entity names its class.
  private var namedModel: ManagedObjectModel {
    var named = model.description
    let names = Dictionary(
      unnamed.flatMap { type in type.entities.map { ($0.name, type.name) } }, uniquingKeysWith: { first, _ in first })
    for index in named.entities.indices {
      if let name = names[named.entities[index].name] { named.entities[index].managedObjectClassName = name }
    }
    return named
  }

  /// The function that gives each entity its class.
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

  /// A function for each fetch request template.
  private var templates: [String] {
    var taken: Set<String> = ["byName", "model", "named", "source"]
    return model.description.fetchRequestTemplates.sorted { $0.key < $1.key }.map { name, request in
      var method = SwiftName.isType(name) ? name : SwiftName.type(of: name)
      while !taken.insert(method).inserted { method += "_" }
      return template(name, request, method: method)
    }
  }

  /// The function of a fetch request template, with a parameter for each variable of its
  /// predicates.
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
