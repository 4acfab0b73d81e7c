import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The model as scripts read it: `moonbase.model.entities.Person.attributes.age.type`.
extension ScriptDomain {
  /// Replaces the model after extensions of a context were reloaded.
  ///
  /// `types` adopts the new model as well, so that handles of existing objects know the added attributes.
  func updateModel(_ model: ResolvedModel, after former: ResolvedModel) throws {
    if self.model === former {
      self.model = model
      // The model is described again on next access.
      try moonbase.set("model", to: .nil)
    }
    try types.adopt(model, after: former)
  }

  /// The table `moonbase.model`: entities by name, described on first access.
  func describe(_ model: ResolvedModel) throws -> LuaValue {
    let entities = listing("the model has no entity", names: model.entities.map(\.name)) { name, domain in
      try model.entity(name).map { try domain.describe($0, in: model) } ?? .nil
    }
    return try frozen(["entities": entities], as: "moonbase.model")
  }

  /// A listing as a Lua value.
  private func listing(
    _ subject: String, names: [String], _ describe: @escaping (String, ScriptDomain) throws -> LuaValue
  ) -> LuaValue {
    .object(LuaObject(ModelListing(subject, names: names, describe), as: types.listing))
  }

  /// An entity: `{ name, abstract, parent, class, user_info, attributes, relationships, fetched_properties }`.
  private func describe(_ entity: ResolvedEntity, in model: ResolvedModel) throws -> LuaValue {
    var fields: [String: LuaValue] = [
      "name": .text(entity.name), "abstract": .boolean(entity.isAbstract),
      "parent": text(entity.parent.map { model.entities[$0].name }),
      "class": text(entity.description.managedObjectClassName),
      "user_info": try luaValue(from: .map(entity.description.userInfo)),
    ]
    fields["attributes"] = listing(
      "\(entity.name) has no attribute", names: entity.allProperties.filter { $0.attribute != nil }.map(\.name)
    ) { name, domain in try entity.property(name)?.attribute.map(domain.describe) ?? .nil }
    fields["relationships"] = listing(
      "\(entity.name) has no relationship",
      names: entity.properties.filter { $0.relationship != nil }.map(\.name)
    ) { name, domain in try entity.property(name)?.relationship.map { try domain.describe($0.description) } ?? .nil }
    fields["fetched_properties"] = listing(
      "\(entity.name) has no fetched property", names: entity.fetchedProperties.keys.sorted()
    ) { name, domain in try entity.fetchedProperties[name].map(domain.describe) ?? .nil }
    return try frozen(fields, as: "an entity of moonbase.model")
  }

  /// An attribute with its rules: `{ name, type, optional, transient, default, min, max, … }`. Absent settings are nil.
  private func describe(_ attribute: AttributeDescription) throws -> LuaValue {
    let rules = attribute.validation
    return try frozen(
      [
        "name": .text(attribute.name), "type": .text(attribute.type.modelName),
        "optional": .boolean(attribute.isOptional), "transient": .boolean(attribute.isTransient),
        "default": try luaValue(from: attribute.defaultValue), "min": try luaValue(from: rules.minimum ?? .null),
        "max": try luaValue(from: rules.maximum ?? .null), "min_length": integer(rules.minimumLength),
        "max_length": integer(rules.maximumLength), "matches": text(rules.regularExpression),
        "one_of": try luaValue(from: rules.allowedValues.map(Value.list) ?? .null),
        "transformer": text(attribute.valueTransformerName),
        "class": text(attribute.valueClassName), "derivation": text(attribute.derivationExpression),
        "user_info": try luaValue(from: .map(attribute.userInfo)),
      ], as: "an attribute of moonbase.model")
  }

  /// A relationship: `{ name, destination, inverse, to_many, ordered, delete, optional, transient, min, max, user_info
  /// }`.
  private func describe(_ relationship: RelationshipDescription) throws -> LuaValue {
    try frozen(
      [
        "name": .text(relationship.name), "destination": .text(relationship.destinationEntityName),
        "inverse": text(relationship.inverseName), "to_many": .boolean(relationship.isToMany),
        "ordered": .boolean(relationship.isOrdered), "delete": .text(relationship.deleteRule.modelName),
        "optional": .boolean(relationship.isOptional), "transient": .boolean(relationship.isTransient),
        "min": integer(relationship.minCount), "max": integer(relationship.maxCount),
        "user_info": try luaValue(from: .map(relationship.userInfo)),
      ], as: "a relationship of moonbase.model")
  }

  /// A fetched property: `{ name, destination, predicate, user_info }`, with the predicate as text.
  private func describe(_ property: FetchedPropertyDescription) throws -> LuaValue {
    try frozen(
      [
        "name": .text(property.name), "destination": .text(property.fetchRequest.entityName),
        "predicate": text(property.fetchRequest.predicate?.description),
        "user_info": try luaValue(from: .map(property.userInfo)),
      ], as: "a fetched property of moonbase.model")
  }

  /// A frozen table that suggests field names for misspelt ones. Fields may be nil. Reading a name that is not among
  /// `fields` throws `.unknownName`.
  private func frozen(_ fields: [String: LuaValue], as subject: String) throws -> LuaValue {
    let table = try state.table(fields.mapValues(frozenThrough))
    try table.setMetatable(misspelling(of: fields.keys.sorted(), in: subject))
    return .table(try table.frozen())
  }

  /// Scripts often mistake the result of `moonbase.open` for a context, so names of context members get a hint.
  func checkNames(ofStore store: LuaTable) throws {
    let ofContext = types.context.plain.names
    let hint = ", its context has: local context = moonbase.open{ ... }.context"
    try store.setMetatable(
      misspelling(of: ["context", "reload"], in: "an open store", beside: Set(ofContext), hint: hint))
  }

  /// A metatable, shared by all tables with the same fields. Names in `others` get the hint.
  ///
  /// `subject` is the key of the cache and the start of the message: `an entity of moonbase.model has no 'nmae'; …`.
  private func misspelling(
    of names: [String], in subject: String, beside others: Set<String> = [], hint: String = ""
  ) throws -> LuaTable {
    if let known = infoMetatables[subject] { return known }
    let metatable = try state.table()
    try metatable.set(
      "__index",
      to: try state.function { call in
        let key = try call.value(1)
        guard let name = key.textValue?.asName, !names.contains(name) else { return call.returnNil() }
        let advice = others.contains(name) ? hint : suggestion(for: name, among: names)
        throw ScriptError(.unknownName, message: "\(subject) has no '\(name)'\(advice)")
      })
    try metatable.set(
      "__tostring",
      to: try state.function { call in call.return("\(subject) (\(names.joined(separator: ", ")))") })
    infoMetatables[subject] = metatable
    return metatable
  }

  /// Freezes a table and all nested tables. A value that is no table is returned unchanged.
  private func frozenThrough(_ value: LuaValue) throws -> LuaValue {
    guard case .table(let table) = value else { return value }
    for (key, inner) in try table.pairs { try table.set(key, to: frozenThrough(inner)) }
    return .table(try table.frozen())
  }

  /// A text, or nil.
  private func text(_ text: String?) -> LuaValue { text.map(LuaValue.text) ?? .nil }
  /// An integer, or nil.
  private func integer(_ number: Int?) -> LuaValue { number.map { .integer(Int64($0)) } ?? .nil }
}
