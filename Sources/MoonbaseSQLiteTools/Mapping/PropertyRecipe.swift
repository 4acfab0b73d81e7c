import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

import enum MoonbaseModel.Expression
import MoonbaseSQLiteStore

/// The way in which a property of a new object is made from an old object.
///
/// Compiled from a property mapping (`PropertyCompiler`) and used for each object of an entity mapping. A recipe does
/// not know the order of phases: relationships are set when all objects exist.
struct PropertyRecipe {
  /// How the value is found.
  enum Source {
    /// The stored value of an attribute, possibly converted to another type.
    case copy(Slot, AttributeConversion?)
    /// A composite attribute with changed elements.
    case elements(Slot, ElementConversion)
    /// A value that a policy makes from an attribute of another type.
    case policy(Slot)
    /// A constant for all objects.
    case value(Value)
    /// The value of an expression for the old object.
    case expression(CompiledExpression)
    /// The destination objects, by any mapping, for the destinations of the old object's relationship.
    case counterparts(Slot)
    /// The destination objects, by any mapping, for the results of an expression.
    case counterpartsOf(CompiledExpression)
    /// The destination objects, by one mapping, for the results of an expression.
    case destinations(mapping: Int, CompiledExpression)
  }

  /// The property of the new object.
  let property: ResolvedProperty
  /// The source of its value.
  let source: Source
  /// Whether a policy handles values that do not fit the type.
  var leavesUnkept = false

  /// Sets the property of a new object. Throws `.invalidValue` for a value that the property cannot hold.
  func set(on object: ManagedObject, from old: ManagedObject, manager: MigrationManager) throws {
    switch source {
    case .copy(let slot, let conversion): try copy(slot, conversion, to: object, from: old)
    case .elements(let slot, let conversion): try copy(slot, conversion, to: object, from: old)
    case .policy(let slot):
      if try !old.copiedValue(at: slot).isNull { try object.setCopiedValue(.null, slot: property.slot) }
    case .value(let value): try object.setValue(value, slot: property.slot)
    case .expression(let expression):
      try object.setValue(property.asMapped(expression.value(old)), slot: property.slot)
    case .counterparts(let slot):
      try connect(
        object, toCounterpartsOf: old.objectIDs(forRelationshipNamed: old.entity.properties[slot].name), manager)
    case .counterpartsOf(let expression):
      try connect(object, toCounterpartsOf: Self.ids(expression.value(old)), manager)
    case .destinations(let mapping, let expression):
      let ids = try Self.ids(expression.value(old))
      try connect(object, to: ids.flatMap { try manager.destinationIDs(of: $0, by: mapping) })
    }
  }

  /// Copies a value, converted to the new type if necessary. Values of the same type are copied without conversion,
  /// opaque ones included.
  private func copy(
    _ slot: Slot, _ conversion: AttributeConversion?, to object: ManagedObject, from old: ManagedObject
  ) throws {
    let value = try old.copiedValue(at: slot)
    // A required attribute with a default value keeps the default.
    if value.isNull, !property.isOptional, property.attribute?.defaultValue.isNull == false { return }
    guard let conversion else { return try object.setCopiedValue(value, slot: property.slot) }
    guard let converted = conversion.convert(value) else {
      if leavesUnkept { return try object.setCopiedValue(.null, slot: property.slot) }
      throw GraphError(
        .invalidValue,
        message:
          "\(old.entity.properties[slot].name) holds what \(conversion.destination.modelName) cannot keep: map it by an expression or a policy",
        entity: object.entity.name, property: property.name, value: value)
    }
    try object.setCopiedValue(converted, slot: property.slot)
  }

  /// Copies a composite value, element by element. Throws `.invalidValue` for an element that its new type cannot hold,
  /// unless a policy handles it.
  private func copy(
    _ slot: Slot, _ conversion: ElementConversion, to object: ManagedObject, from old: ManagedObject
  ) throws {
    let value = try old.copiedValue(at: slot)
    if !leavesUnkept, let element = conversion.lostElement(of: value) {
      throw GraphError(
        .invalidValue,
        message:
          "element \(element) of \(old.entity.properties[slot].name) holds what its new type cannot keep: map it by an expression or a policy",
        entity: object.entity.name, property: property.name, value: value)
    }
    try object.setCopiedValue(value.isNull ? value : conversion.convert(value), slot: property.slot)
  }

  /// Whether an object lacks a value because the old value does not fit the type, and no policy has set one. Asked
  /// after the policy has run.
  func isMissing(on object: ManagedObject, from old: ManagedObject) throws -> Bool {
    let value: Value
    switch source {
    case .policy(let slot): value = try old.copiedValue(at: slot)
    case .copy(let slot, let conversion?) where leavesUnkept:
      value = try old.copiedValue(at: slot)
      if conversion.convert(value) != nil { return false }
    case .elements(let slot, let conversion):
      let new = try object.copiedValue(at: property.slot)
      return try conversion.lostElement(of: old.copiedValue(at: slot), in: new) != nil
    case .copy, .value, .expression, .counterparts, .counterpartsOf, .destinations: return false
    }
    return try !value.isNull && object.copiedValue(at: property.slot).isNull
  }

  /// Sets a relationship to the destination objects of old objects. The destinations are searched by any mapping.
  private func connect(
    _ object: ManagedObject, toCounterpartsOf ids: [ManagedObjectID], _ manager: MigrationManager
  ) throws {
    guard let relationship = property.relationship else { return }
    let entity = manager.destinationModel.entities[relationship.destination]
    try connect(object, to: ids.flatMap { try manager.counterparts(of: $0, as: entity) })
  }

  /// Sets a relationship. Throws for several destinations of a to-one relationship. The code is `.invalidValue`.
  private func connect(_ object: ManagedObject, to ids: [ManagedObjectID]) throws {
    guard property.relationship?.isToMany == true else {
      guard ids.count < 2 else {
        throw GraphError(
          .invalidValue, message: "\(property.name) leads to \(ids.count) objects, and takes one",
          entity: object.entity.name, property: property.name)
      }
      return try object.setValue(ids.first.map(Value.objectID) ?? .null, slot: property.slot)
    }
    // An empty list needs no access to the relationship.
    if ids.isEmpty { return }
    try object.setValue(.list(ids.map(Value.objectID)), slot: property.slot)
  }

  /// The IDs in a value: a single one, or those of a list.
  private static func ids(_ value: Value) -> [ManagedObjectID] {
    switch value {
    case .objectID(let id): [id]
    case .list(let values): values.flatMap(ids)
    default: []
    }
  }
}

/// Values of mapping expressions.
extension ResolvedProperty {
  /// Converts the value of a mapping: booleans are numbers there, as in Foundation. Values of other attributes are
  /// returned unchanged.
  fileprivate func asMapped(_ value: Value) -> Value {
    guard attributeType == .boolean else { return value }
    switch value {
    case .int(let number): return .bool(number != 0)
    case .double(let number): return .bool(number != 0)
    default: return value
    }
  }
}

/// Makes recipes from property mappings.
///
/// Made for one property mapping, with all names that it may refer to. Mistakes are `.invalidModel` errors with mapping
/// and property.
struct PropertyCompiler {
  /// The entity mapping.
  let mapping: EntityMapping
  /// The property of the new entity.
  let property: ResolvedProperty
  /// The old entity.
  let source: ResolvedEntity
  /// Both models, for expressions and types.
  let models: (source: ResolvedModel, destination: ResolvedModel)
  /// The indexes of entity mappings by name.
  let names: [String: Int]
  /// Whether the mapping's policy handles values that do not fit their types.
  let leavesUnkept: Bool

  /// The recipe; nil if the property keeps the value of a new object. Throws for a mapping that does not fit the
  /// property.
  func recipe(_ mapped: PropertyMapping) throws -> PropertyRecipe? {
    switch mapped.source {
    case .automatic: return try copy(of: mapped.name, mapped, isNamed: false)
    case .property(let name): return try copy(of: name, mapped, isNamed: true)
    case .value(let value): return try constant(value, mapped)
    case .expression(.constant(let value)) where property.attribute != nil: return try constant(value, mapped)
    case .expression(let expression): return try recipe(expression, mapped)
    }
  }

  /// The recipe for a constant. Throws for a value that does not fit the attribute. Constants in expressions are
  /// handled here as well.
  private func constant(_ value: Value, _ mapped: PropertyMapping) throws -> PropertyRecipe? {
    guard let attribute = property.attribute else {
      return value.isNull ? nil : PropertyRecipe(property: property, source: .value(value))
    }
    let value = property.asMapped(value)
    do { _ = try attribute.checked(value) } catch { throw mistake(error.message, mapped) }
    return PropertyRecipe(property: property, source: .value(value))
  }

  /// The recipe for the copy of an old property; nil if an unnamed one does not exist. An unnamed property is copied by
  /// its own name, if the older model has it.
  private func copy(of name: String, _ mapped: PropertyMapping, isNamed: Bool) throws -> PropertyRecipe? {
    guard let slot = source.slot(name) else {
      guard isNamed else { return nil }
      let advice = suggestion(for: name, among: source.properties.map(\.name))
      throw mistake("\(source.name) has no property \(name)\(advice)", mapped)
    }
    let old = source.properties[slot]
    guard let type = property.attributeType else {
      guard old.relationship != nil else { throw mistake("\(name) is an attribute, and this a relationship", mapped) }
      return PropertyRecipe(property: property, source: .counterparts(slot))
    }
    guard let former = old.attributeType else {
      throw mistake("\(name) is a relationship, and this an attribute", mapped)
    }
    if type == .composite, former == .composite, let before = old.attribute, let attribute = property.attribute,
      let conversion = ElementConversion(from: before, to: attribute)
    {
      return PropertyRecipe(property: property, source: .elements(slot, conversion), leavesUnkept: leavesUnkept)
    }
    if type == former { return PropertyRecipe(property: property, source: .copy(slot, nil)) }
    guard let conversion = AttributeConversion(from: former, to: type) else {
      if leavesUnkept { return PropertyRecipe(property: property, source: .policy(slot)) }
      throw mistake(
        "no value of type \(former.modelName) means one of type \(type.modelName): give an expression or a policy",
        mapped)
    }
    return PropertyRecipe(property: property, source: .copy(slot, conversion), leavesUnkept: leavesUnkept)
  }

  // MARK: Expressions

  /// The recipe for an expression. Three forms are understood: destinations by relationship, destinations by mapping,
  /// and plain expressions.
  private func recipe(_ expression: Expression, _ mapped: PropertyMapping) throws -> PropertyRecipe {
    if case .function(EntityMapping.destinationsOfRelationship, let arguments) = expression {
      guard property.relationship != nil else { throw mistake("an attribute takes no objects", mapped) }
      guard arguments.count == 3, arguments[0] == .variable("manager") else {
        throw mistake("\(expression) is not understood: the target is $manager", mapped)
      }
      return PropertyRecipe(property: property, source: .counterpartsOf(try compiled(arguments[2], mapped)))
    }
    if case .function(EntityMapping.destinationsOfMapping, let arguments) = expression {
      guard property.relationship != nil else { throw mistake("an attribute takes no objects", mapped) }
      guard arguments.count == 3, arguments[0] == .variable("manager"), case .constant(.string(let name)) = arguments[1]
      else { throw mistake("\(expression) is not understood: the target is $manager, and the mapping a text", mapped) }
      guard let index = names[name] else {
        throw mistake("there is no entity mapping \(name)\(suggestion(for: name, among: names.keys.sorted()))", mapped)
      }
      return PropertyRecipe(
        property: property, source: .destinations(mapping: index, try compiled(arguments[2], mapped)))
    }
    guard property.attribute != nil else {
      throw mistake(
        "\(expression) gives no destinations: ask for them by FUNCTION($manager, \"\(EntityMapping.destinationsOfMapping)\", …)",
        mapped)
    }
    return PropertyRecipe(property: property, source: .expression(try compiled(expression, mapped)))
  }

  /// Compiles an expression over the old object. Throws for variables other than the old object. `$source` is the old
  /// object, as in Core Data's mapping models.
  private func compiled(_ expression: Expression, _ mapped: PropertyMapping) throws -> CompiledExpression {
    var unknown: String?
    let own = expression.replacing { part in
      switch part {
      case .variable("source"): return .evaluatedObject
      case .keyPath(.variable("source"), let path): return MappedPath(path, from: source, in: models.source).expression
      case .variable(let name), .keyPath(.variable(let name), _):
        unknown = unknown ?? name
        return part
      default: return nil
      }
    }
    if let unknown {
      throw mistake("\(expression) uses $\(unknown), and only $source is known here: do it in a policy", mapped)
    }
    do {
      return try CompiledExpression(models.source.checked(own, from: source), entity: source, in: models.source)
    } catch {
      throw mistake("\(expression) cannot be run: \(error.message)", mapped)
    }
  }

  /// The error with mapping and property.
  private func mistake(_ message: String, _ mapped: PropertyMapping) -> ModelError {
    CompiledMapping.mistake(message, in: mapping, mapped)
  }
}
