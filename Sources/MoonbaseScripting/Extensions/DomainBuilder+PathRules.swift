import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A rule over a value of a related object: `validate = { ["department.budget"] = function(budget, person) ... end }`.
///
/// A save evaluates the rule for each object that it writes, and for each object whose related object changed its value
/// or was replaced.
///
/// The rule is attached to several entities (`places(in:)`): to the first relationship of the path at the rule's own
/// entity, and to each further property at the entity that owns it. In the example, `Person.department` has depth 0 and
/// `Department.budget` depth 1. A change at depth 1 finds the persons by the inverse relationship.
struct PathRule {
  /// The steps: to-one relationships with inverses.
  private let steps: [ResolvedRelationship]
  /// The attribute at the end of the path.
  private let last: String
  /// The entity that declares the rule.
  private let entity: ResolvedEntity
  /// The path, compiled.
  private let value: CompiledExpression
  /// Calls the script's function; nil if the value is valid.
  private let ask: (Value, ManagedObject, ValidationContext.Event) throws -> EntityExtension.ValidationIssue?

  /// The mistake in a path; nil for a valid path. Every step but the last must be a to-one relationship with an
  /// inverse, the last an attribute.
  static func problem(of path: String, from entity: ResolvedEntity, in model: ResolvedModel) -> String? {
    var place = entity
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for key in keys.dropLast() {
      guard let property = place.property(key) else { return place.noProperty(key) }
      guard let relationship = property.relationship else { return "\(place.name).\(key) is no relationship" }
      if relationship.isToMany {
        return "\(place.name).\(key) leads to several objects: a rule over the relationship gets them as a list"
      }
      if relationship.description.inverseName == nil {
        return "\(place.name).\(key) has no inverse, by which the rule is asked when the other object changes"
      }
      place = model.destination(of: relationship)
    }
    guard let key = keys.last, let property = place.property(key) else { return place.noProperty(keys.last ?? "") }
    return property.attribute == nil ? "\(place.name).\(key) is no attribute" : nil
  }

  /// Compiles a path without mistakes, as `problem(of:from:in:)` found it.
  init(
    _ path: String, of entity: ResolvedEntity, in model: ResolvedModel,
    ask: @escaping (Value, ManagedObject, ValidationContext.Event) throws -> EntityExtension.ValidationIssue?
  ) throws {
    var place = entity
    var steps: [ResolvedRelationship] = []
    let keys = path.split(separator: ".").map(String.init)
    for key in keys.dropLast() {
      guard let step = place.property(key)?.relationship else { break }
      steps.append(step)
      place = model.destination(of: step)
    }
    (self.steps, last, self.entity, self.ask) = (steps, keys.last ?? "", entity, ask)
    value = try CompiledExpression(.keyPath(path), entity: entity, in: model)
  }

  /// The properties whose changes trigger the rule, each with its entity and its distance in steps. Depth 0 is the
  /// rule's own entity.
  func places(in model: ResolvedModel) -> [(entity: String, property: String, depth: Int)] {
    steps.enumerated().map { depth, step in
      (depth == 0 ? entity.name : model.destination(of: steps[depth - 1]).name, step.description.name, depth)
    } + (steps.last.map { [(model.destination(of: $0).name, last, steps.count)] } ?? [])
  }

  /// The rule attached to a property at this distance.
  ///
  /// A rule at depth 0 reports the failing property. At a greater depth the failure belongs to another object,
  /// therefore its key is removed.
  func rule(depth: Int) -> EntityExtension.Rule {
    { changed, subject in
      if depth == 0 { return try failure(of: subject.object, subject.event) }
      guard try subject.event == .assignment || subject.object.isInserted || subject.oldValue != changed else {
        return nil
      }
      for object in try objects(leadingTo: subject.object, depth: depth) where object !== subject.object {
        guard var failure = try failure(of: object, subject.event) else { continue }
        failure.key = nil
        return failure
      }
      return nil
    }
  }

  /// The rule's failure for an object; nil if the path has no value.
  private func failure(
    of object: ManagedObject, _ event: ValidationContext.Event
  ) throws -> EntityExtension.ValidationIssue? {
    let found = try value.value(object)
    return found.isNull ? nil : try ask(found, object, event)
  }

  /// The objects of the rule's entity from which the steps reach an object. Follows the inverses back, from the last
  /// step to the first. Deleted objects and objects of other entities are left out.
  private func objects(leadingTo object: ManagedObject, depth: Int) throws -> [ManagedObject] {
    var objects = [object]
    for step in steps.prefix(depth).reversed() {
      guard let inverse = step.description.inverseName else { return [] }
      objects = try objects.flatMap { try $0.objects(forKey: inverse) }
    }
    return objects.filter { entity.subtree.contains($0.entity.index) && !$0.isDeleted }
  }
}

extension ManagedObject {
  /// The objects at the end of a relationship. A single object for a to-one relationship. Charges a unit of host work
  /// per object.
  fileprivate func objects(forKey key: String) throws -> [ManagedObject] {
    guard let context = managedObjectContext else { return [] }
    let ids: [Value] =
      switch try value(forKey: key) {
      case .list(let list): list
      case let one: [one]
      }
    return try ids.compactMap { id in
      try HostWork.charge()
      return if case .objectID(let id) = id { try context.object(with: id) } else { nil }
    }
  }
}

extension DomainBuilder {
  /// Adds the rules over values of related objects to all entities along their paths. A path is recognised by its dot.
  /// Rules without a dot are handled by `make`.
  func addPathRules(
    of entry: ExtensionDeclaration.Entity, to domain: ExtensionRegistry, meter: RunningExtension?,
    translations: [String: String]
  ) throws {
    guard let entity = model.entity(entry.name) else { return }
    for (path, function) in entry.validate where path.contains(".") {
      let asked = pathRule(function, of: "\(entry.name).\(path)", translations)
      let ask = { (value: Value, object: ManagedObject, event: ValidationContext.Event) in
        guard let meter else { return try asked(value, object, event) }
        return try meter.run("\(entry.name).validate.\(path)") { try asked(value, object, event) }
      }
      let rule = try PathRule(path, of: entity, in: model, ask: ask)
      for place in rule.places(in: model) {
        var added = EntityExtension()
        added.validate[place.property] = rule.rule(depth: place.depth)
        domain.extensions[place.entity, default: []].append(added)
      }
    }
  }

  /// The rule receives the value, the object, no old value, and the event. At most four arguments are passed, as many
  /// as the function declares.
  private func pathRule(
    _ function: LuaFunction, of name: String, _ translations: [String: String]
  ) -> (Value, ManagedObject, ValidationContext.Event) throws -> EntityExtension.ValidationIssue? {
    let count = min(function.parameterCount, 4)
    let call = LuaFastCall(function, parameters: count)
    return { [types] value, object, event in
      let scripts = try types.openDomain()
      return try call.run {
        if count > 0 { try scripts.setArgument(0, of: $0, to: value, ofAttribute: name) }
        if count > 1 { try $0.set(1, object: object, as: scripts.types.type(of: object.entity)) }
        if count > 3 { try scripts.setArgument(3, of: $0, to: .string(event.rawValue)) }
      } reading: {
        var failure = try RuleOutcome(function, entity: object.entity, translations: translations)
          .failure($0, in: scripts)
        // If the related object is saved, `{value}` would otherwise be the value of another property.
        if failure?.message.contains("{value}") == true { failure?.values["value"] = value }
        return failure
      }
    }
  }
}
