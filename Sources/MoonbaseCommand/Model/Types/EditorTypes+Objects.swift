import MoonbaseModel

/// Definitions of objects, requests and lists.
extension EditorTypes {
  /// The class for the objects of an entity. Inherited members are in the class of the parent.
  ///
  /// Own attributes, relationships, fetched properties and methods are fields of the class.
  func object(of entity: ResolvedEntity) -> String {
    let parent = entity.parent.map { names[$0] } ?? "moonbase.Object"
    let properties = entity.allProperties.filter { $0.declaringEntity == entity.index }.map { property in
      "\(EditorName.key(property.name)) \(type(of: property))\(comment(on: property))"
    }
    let fetched = entity.description.fetchedProperties.map { property in
      "\(EditorName.key(property.name)) \(destination(property.fetchRequest.entityName))[]"
    }
    let name = name(of: entity)
    let methods = (methods[entity.name] ?? []).sorted().map { method in
      "\(EditorName.key(method)) fun(self: \(name), ...: any): any"
    }
    return Self.declaration("\(name): \(parent)", fields: properties + fetched + methods)
  }

  /// The type of the tables that create objects. Every value is optional, and some values may be texts.
  ///
  /// An example is the second argument of `insert`.
  func values(of entity: ResolvedEntity) -> String {
    let name = "moonbase.Values.\(name(of: entity))"
    let parent = entity.parent.map { ": moonbase.Values.\(names[$0])" } ?? ""
    let fields = entity.allProperties.filter { $0.declaringEntity == entity.index && !$0.isDerived }.map { property in
      "\(EditorName.key(property.name))? \(assigned(property))"
    }
    return Self.declaration(name + parent, fields: fields)
  }

  /// The class for the objects of an entity that a fetched property names.
  private func destination(_ entity: String) -> String {
    model.entity(entity).map { name(of: $0) } ?? "moonbase.Object"
  }

  /// The type of a property when a script reads it. A question mark stands for a value that may be
  /// nil.
  private func type(of property: ResolvedProperty) -> String {
    switch property.kind {
    case .attribute(let attribute): EditorName.type(of: attribute, besides: names) + (isGiven(property) ? "" : "?")
    case .toOne(let relationship): names[relationship.destination] + (property.isRequired ? "" : "?")
    case .toMany(let relationship): "moonbase.ToMany.\(names[relationship.destination])"
    }
  }

  /// Whether a property always has a value in a script.
  private func isGiven(_ property: ResolvedProperty) -> Bool {
    guard property.isRequired, case .attribute(let attribute) = property.kind else { return false }
    return !attribute.isTransient || !attribute.defaultValue.isNull
  }

  /// The type of a property when a script sets it. Dates and decimals can be given as texts.
  private func assigned(_ property: ResolvedProperty) -> String {
    switch property.kind {
    case .attribute(let attribute):
      let type = EditorName.type(of: attribute, besides: names)
      return [.date, .decimal, .uuid, .uri].contains(attribute.type)
        ? "\(type)|string|moonbase.Null" : "\(type)|moonbase.Null"
    case .toOne(let relationship): return "\(names[relationship.destination])|moonbase.Null"
    case .toMany(let relationship):
      let name = names[relationship.destination]
      return "\(name)[]|moonbase.ToMany.\(name)"
    }
  }

  /// A remark after the type: that the value is derived or transient, or nothing.
  private func comment(on property: ResolvedProperty) -> String {
    switch property.kind {
    case .attribute where property.slot >= (model.entities[property.declaringEntity].properties.count):
      " derived by an extension"
    case .attribute(let attribute) where attribute.isTransient: " transient"
    case .attribute(let attribute) where attribute.derivationExpression != nil: " derived by the store"
    default: ""
    }
  }

  // MARK: Requests and lists

  /// The methods of a request that return a new request.
  static let steps = [
    "where format: string, ...: any", "sort ...: string", "limit count: integer", "offset count: integer",
    "batch size: integer", "prefetch ...: string", "group_by ...: string", "having predicate: string, ...: any",
    "distinct distinct?: boolean", "subentities included: boolean", "pending included: boolean",
    "save_every count: integer",
  ]

  /// The fields for the methods that return a request. They are repeated for each entity, so that
  /// the type of the result is known.
  ///
  /// - Parameters:
  ///   - name: The class of the objects.
  ///   - type: The class that has the methods.
  private func steps(of name: String, from type: String) -> [String] {
    Self.steps.map { step in
      let parts = step.split(separator: " ", maxSplits: 1)
      return "\(parts[0]) fun(self: \(type), \(parts[1])): moonbase.Fetch.\(name)"
    }
  }

  /// The fields for the methods that return objects.
  private func results(of name: String, from type: String) -> [String] {
    [
      "each fun(self: \(type)): fun(): \(name)?", "all fun(self: \(type)): \(name)[]",
      "first fun(self: \(type)): \(name)?",
    ]
  }

  /// The class for the requests of an entity.
  func request(of entity: ResolvedEntity) -> String {
    let name = name(of: entity)
    let type = "moonbase.Fetch.\(name)"
    return Self.declaration(
      "\(type): moonbase.Request",
      fields: steps(of: name, from: type) + results(of: name, from: type) + [
        "follow fun(self: \(type), options?: { sections?: string }): moonbase.Results.\(name)"
      ])
  }

  /// The class for a to-many relationship with objects of an entity. It has methods to add and to
  /// remove objects.
  func members(of entity: ResolvedEntity) -> String {
    let name = name(of: entity)
    let type = "moonbase.ToMany.\(name)"
    let many = "\(name)|\(name)[]|\(type)"
    return Self.declaration(
      "\(type): moonbase.ToMany",
      fields: ["[integer] \(name)"] + steps(of: name, from: type) + results(of: name, from: type) + [
        "add fun(self: \(type), ...: \(many))", "remove fun(self: \(type), ...: \(many))",
        "contains fun(self: \(type), object: \(name)): boolean",
        "insert fun(self: \(type), index: integer, object: \(name))",
        "index_of fun(self: \(type), object: \(name)): integer?",
      ])
  }

  /// The class for the results of a controller that observes objects of an entity.
  func results(of entity: ResolvedEntity) -> String {
    let name = name(of: entity)
    let type = "moonbase.Results.\(name)"
    return Self.declaration(
      "\(type): moonbase.Results",
      fields: [
        "[integer] \(name)", "all fun(self: \(type)): \(name)[]",
        "sections fun(self: \(type)): { name: string, objects: \(name)[] }[]",
      ])
  }
}
