import MoonbaseModel

/// The definitions of a model for the Lua language server. They contain, for each entity, a class for its objects,
/// classes for requests and lists, and the results of functions such as `insert` and `fetch`.
///
/// ```swift
/// let text = EditorTypes(model, methods: ["Person": ["address"]]).text(of: "people.lua")
/// ```
struct EditorTypes {
  /// The model, including the attributes of extensions.
  let model: ResolvedModel
  /// The names of the methods that extensions add to the objects of an entity, by entity.
  let methods: [String: [String]]
  /// The names of the classes, by entity.
  let names: [String]

  /// Chooses the class names, which differ from the built-in types.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - methods: The names of methods by entity. Their parameters are not known.
  init(_ model: ResolvedModel, methods: [String: [String]] = [:]) {
    (self.model, self.methods) = (model, methods)
    names = EditorName.classes(of: model.entities.map(\.name))
  }

  /// The contents of a file of definitions.
  ///
  /// - Parameter source: The name of the model's file, for the first comment.
  func text(of source: String) -> String {
    let head = """
      ---@meta
      -- What the model \(EditorName.comment(source)) has. Written by `moonbase model types`. The next run overwrites changes of this file.
      """
    let parts = [[head], valueClasses, model.entities.flatMap(parts), [context, description]]
    return parts.joined().map { "\($0)\n" }.joined(separator: "\n")
  }

  /// The class name of an entity.
  func name(of entity: ResolvedEntity) -> String { names[entity.index] }

  /// The five classes of an entity.
  private func parts(of entity: ResolvedEntity) -> [String] {
    [object(of: entity), values(of: entity), request(of: entity), members(of: entity), results(of: entity)]
  }

  /// The classes of values that the model names. Their members are defined in a script or an extension.
  private var valueClasses: [String] {
    let attributes = model.entities.flatMap(\.allProperties).compactMap(\.attribute)
    let classes = Set(attributes.compactMap { EditorName.valueClass($0, besides: names) }).sorted()
    return classes.isEmpty ? [] : [classes.map { "---@class \($0)" }.joined(separator: "\n")]
  }

  // MARK: Contexts

  /// The class of contexts with overloads for each entity, so that `insert("Person")` has the type
  /// `Person`.
  private var context: String {
    let fields = model.entities.flatMap { entity -> [String] in
      let (name, key) = (name(of: entity), EditorName.text(entity.name))
      let values = "moonbase.Values.\(name)"
      let start = "fun(self: moonbase.Context, entity: \(key)"
      let made =
        entity.isAbstract
        ? []
        : [
          "insert \(start), values?: \(values)): \(name)",
          "upsert \(start), keys: string[], values: \(values)): \(name)",
          "upsert \(start), keys: string[], values: \(values)[]): \(name)[]",
          "batch_insert \(start), rows: \(values)[]|fun(): \(values)?): integer?, moonbase.Error?",
        ]
      return made + ["fetch \(start)): moonbase.Fetch.\(name)", "find \(start), values: \(values)): \(name)?"]
    }
    return Self.declaration("moonbase.Context", fields: fields)
  }

  // MARK: moonbase.model

  /// The classes of `moonbase.model` with the names of all entities and properties.
  private var description: String {
    let entities = model.entities.map { "\(EditorName.key($0.name)) moonbase.EntityInfo.\(name(of: $0))" }
    let infos = model.entities.map { entity in
      Self.declaration(
        "moonbase.EntityInfo.\(name(of: entity)): moonbase.EntityInfo",
        fields: [
          "attributes \(Self.table(of: attributes(of: entity), as: "moonbase.AttributeInfo"))",
          "relationships \(Self.table(of: relationships(of: entity), as: "moonbase.RelationshipInfo"))",
          "fetched_properties \(Self.table(of: entity.fetchedProperties.keys.sorted(), as: "moonbase.FetchedPropertyInfo"))",
        ])
    }
    return
      ([
        Self.declaration("moonbase.ModelInfo", fields: ["entities moonbase.ModelEntities"]),
        Self.declaration("moonbase.ModelEntities: table<string, moonbase.EntityInfo>", fields: entities),
      ] + infos).joined(separator: "\n\n")
  }

  /// The names of an entity's attributes.
  private func attributes(of entity: ResolvedEntity) -> [String] {
    entity.allProperties.filter { $0.attribute != nil }.map(\.name)
  }

  /// The names of an entity's relationships.
  private func relationships(of entity: ResolvedEntity) -> [String] {
    entity.allProperties.filter { $0.relationship != nil }.map(\.name)
  }

  /// The type of a table with known keys.
  ///
  /// - Parameters:
  ///   - names: The keys.
  ///   - type: The type of each value.
  private static func table(of names: [String], as type: String) -> String {
    names.isEmpty
      ? "table<string, \(type)>" : "{ \(names.map { "\(EditorName.key($0)): \(type)" }.joined(separator: ", ")) }"
  }

  /// The comments that declare a class.
  ///
  /// Example: `---@class Person` with a line `---@field age integer?`.
  static func declaration(_ name: String, fields: [String]) -> String {
    (["---@class \(name)"] + fields.map { "---@field \($0)" }).joined(separator: "\n")
  }
}
