import MoonbaseModel

/// A model without the settings that a format cannot hold, and the list of these.
///
/// Writers reduce a model first. `WrittenModel` reports the losses, and `check()` refuses them.
struct ReducedModel {
  /// A format that cannot hold all settings, unlike an archive.
  ///
  /// An archive is not among the formats, because it holds every setting.
  enum Form {
    case xcode, lua
  }

  /// The part of the model that the format can hold.
  private(set) var model: ManagedObjectModel
  /// An error for each setting that it cannot hold.
  private(set) var losses: [ModelError] = []
  /// The format.
  private let form: Form

  /// Reduces a model to a format.
  init(_ model: ManagedObjectModel, to form: Form) {
    (self.model, self.form) = (model, form)
    var reduced = model
    if form == .xcode { reduceFetches(of: &reduced) }
    for index in reduced.entities.indices { reduce(&reduced.entities[index]) }
    self.model = reduced
  }

  /// Throws the first loss with the others.
  ///
  /// The error is `.unsupportedForm`, with at most `Mistakes.greatestCount` losses.
  func check() throws(ModelError) {
    guard var first = losses.first else { return }
    first.others = Array(losses.dropFirst().prefix(Mistakes.greatestCount - 1))
    throw first
  }

  /// Reduces fetch request templates and version identifiers to Xcode's format.
  private mutating func reduceFetches(of model: inout ManagedObjectModel) {
    if model.versionIdentifiers.count > 1 {
      lose("a model of Xcode has one version identifier, not \(model.versionIdentifiers.count)")
      model.versionIdentifiers.removeSubrange(1...)
    }
    for (name, request) in model.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      model.fetchRequestTemplates[name] = reduced(request, of: "fetch request \(name)", nil, nil)
    }
  }

  /// Reduces an entity and its properties.
  private mutating func reduce(_ entity: inout EntityDescription) {
    let name = entity.name
    reduce(&entity.userInfo, of: "entity \(name)", name, nil)
    for index in entity.attributes.indices { reduce(&entity.attributes[index], of: name) }
    for index in entity.relationships.indices {
      let property = entity.relationships[index].name
      reduce(&entity.relationships[index].userInfo, of: "\(name).\(property)", name, property)
    }
    for index in entity.fetchedProperties.indices {
      let property = entity.fetchedProperties[index]
      let place = "\(name).\(property.name)"
      reduce(&entity.fetchedProperties[index].userInfo, of: place, name, property.name)
      guard form == .xcode else { continue }
      entity.fetchedProperties[index].fetchRequest = reduced(property.fetchRequest, of: place, name, property.name)
    }
  }

  /// Reduces an attribute: its user info, its default and its elements.
  private mutating func reduce(_ attribute: inout AttributeDescription, of entity: String) {
    let place = "\(entity).\(attribute.name)"
    reduce(&attribute.userInfo, of: place, entity, attribute.name)
    switch form {
    case .xcode: reduceForXcode(&attribute, at: place, of: entity)
    case .lua:
      if attribute.defaultValue.isNull || attribute.defaultValue.hasLuaLiteral { break }
      let what = attribute.defaultValue.typePhrase
      lose("\(place): a default value that is \(what) cannot be written in Lua", entity, attribute.name)
      attribute.defaultValue = .null
    }
    for index in attribute.elements.indices { reduce(&attribute.elements[index], of: place) }
  }

  /// Removes allowed values, predicates and binary defaults, which Xcode's format lacks.
  private mutating func reduceForXcode(_ attribute: inout AttributeDescription, at place: String, of entity: String) {
    func message(_ what: String) -> String { "\(place): a model of Xcode cannot say \(what): write the model as Lua" }
    if attribute.validation.allowedValues != nil {
      lose(message("which values are allowed"), entity, attribute.name)
      attribute.validation.allowedValues = nil
    }
    if !attribute.validation.predicates.isEmpty {
      lose(message("validation predicates"), entity, attribute.name)
      attribute.validation.predicates = []
    }
    if case .data = attribute.defaultValue {
      lose(message("a binary default value"), entity, attribute.name)
      attribute.defaultValue = .null
    }
  }

  /// Removes user info that the format cannot hold: only strings fit in Xcode's format.
  private mutating func reduce(
    _ userInfo: inout [String: Value], of place: String, _ entity: String, _ property: String?
  ) {
    for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
      switch (form, value) {
      case (.xcode, .string): continue
      case (.lua, _) where value.isWritableAsUserInfo: continue
      case (.xcode, _):
        let what = "user info \(key) is \(value.typePhrase)"
        lose("\(place): \(what), and a model of Xcode holds only strings", entity, property)
      case (.lua, _):
        lose("\(place): user info \(key) is \(value.typePhrase), which cannot be written in Lua", entity, property)
      }
      userInfo[key] = nil
    }
  }

  /// The fetch request with the settings of Xcode's format.
  private mutating func reduced(
    _ request: FetchRequest, of place: String, _ entity: String?, _ property: String?
  ) -> FetchRequest {
    var plain = FetchRequest(request.entityName, where: request.predicate)
    plain.resultType = request.resultType
    for aspect in FetchRequest.aspects where !aspect.xcode.isEmpty { aspect.copy(from: request, to: &plain) }
    if plain != request {
      lose(
        "\(place): a model of Xcode says of a fetch its predicate, limit, batch size, result type and flags, and no "
          + "more: write the model as Lua", entity, property)
    }
    return plain
  }

  /// Adds a loss with its place.
  private mutating func lose(_ message: String, _ entity: String? = nil, _ property: String? = nil) {
    losses.append(ModelError(.unsupportedForm, message: message, entity: entity, property: property))
  }
}
