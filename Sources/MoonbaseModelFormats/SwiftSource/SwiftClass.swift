import MoonbaseModel

/// A Swift class with the properties of its entities.
///
/// Usually a class has one entity. Several entities may name the same class in the model; then the
/// class has the properties of all. `SwiftClasses` makes the values.
struct SwiftClass {
  /// The name of the class in Swift, without a module.
  let name: String
  /// The name of the class in the model; nil if the model names none.
  let nameInModel: String?
  /// The entities of the class, in the order of the model.
  let entities: [ResolvedEntity]
  /// The index of the parent class; nil if the parent is `ManagedObject`.
  let parent: Int?
  /// The properties that the class declares itself.
  private(set) var properties: [SwiftProperty] = []
  /// Properties with a changed name.
  private(set) var renamed: [SwiftProperty] = []
  /// The names of the enumerations of its properties.
  var enumerations: [String] { properties.compactMap(\.enumeration?.name) }

  /// A class without properties.
  init(name: String, nameInModel: String?, entities: [ResolvedEntity], parent: Int?) {
    (self.name, self.nameInModel, self.entities, self.parent) = (name, nameInModel, entities, parent)
  }

  /// Adds a property, and notes whether its name was changed.
  mutating func add(_ property: SwiftProperty) {
    properties.append(property)
    if property.name != property.swiftName { renamed.append(property) }
  }

  /// The name of a to-many relationship within method names. Two relationships that differ only in the case of their
  /// first letter keep their spelling.
  func methodName(of property: SwiftProperty) -> String {
    methodNames[property.swiftName] ?? SwiftName.capitalized(property.swiftName)
  }

  /// The names of to-many relationships within method names, including inherited ones.
  fileprivate(set) var methodNames: [String: String] = [:]

  /// The name of the list of key paths in the generated file.
  var nameOfKeyPaths: String { "keyPathsOf\(name)" }
}

/// The classes of a model.
///
/// The names of classes and properties are checked and made unique here, before `SwiftModel` writes
/// any source. Parents precede their children.
struct SwiftClasses {
  /// The classes, in the order of the model's entities.
  private(set) var classes: [SwiftClass] = []
  /// The model.
  private let model: ResolvedModel
  /// The index of each entity's class.
  private var classOf: [Int] = []
  /// The names of types, which avoid those of the classes.
  private(set) var names: SwiftTypeNames

  /// Throws `.invalidModel` with all invalid names of entities, classes and types.
  init(_ model: ResolvedModel) throws(ModelError) {
    self.model = model
    names = SwiftTypeNames(classes: [])
    try Self.checkNames(of: model)
    try Self.checkTypes(of: model)
    group()
    try checkSharing()
    names = SwiftTypeNames(classes: Set(classes.map(\.name)))
    let listNames = Set(classes.map(\.nameOfKeyPaths))
    for index in classes.indices { addProperties(to: index, besides: listNames) }
    for index in classes.indices { classes[index].methodNames = methodNames(of: index) }
  }

  /// The method names of a class and its ancestors.
  private func methodNames(of index: Int) -> [String: String] {
    var names = classes[index].parent.map(methodNames) ?? [:]
    var taken = Set(names.values)
    let own = classes[index].properties.filter(\.isToMany).map(\.swiftName)
    var known = taken
    let shared = Set(own.map(SwiftName.capitalized).filter { !known.insert($0).inserted })
    for name in own {
      let plain = SwiftName.capitalized(name)
      var candidate = shared.contains(plain) ? "_\(name)" : plain
      while !taken.insert(candidate).inserted { candidate += "_" }
      names[name] = candidate
    }
    return names
  }

  /// All properties of a class, inherited properties first.
  ///
  /// The order is that of declaration, from the root of the hierarchy.
  func allProperties(of index: Int) -> [SwiftProperty] {
    let inherited = classes[index].parent.map(allProperties) ?? []
    return inherited + classes[index].properties
  }

  // MARK: Classes

  /// Throws `.invalidModel` for class names that Swift does not allow.
  private static func checkNames(of model: ResolvedModel) throws(ModelError) {
    let mistakes = Mistakes()
    for entity in model.entities {
      let name = plainClassName(of: entity) ?? entity.name
      let isModule = SwiftName.modules.contains(name)
      guard isModule || !SwiftName.isType(name) else { continue }
      let reason = isModule ? "is the name of a module in Swift" : "is no name of a class in Swift"
      mistakes.add(mistake("\(name.debugDescription) \(reason)", entity))
    }
    try mistakes.finish()
  }

  /// Checks the names of the types that the model declares for values.
  ///
  /// Throws `.invalidModel` for a text that names no type.
  private static func checkTypes(of model: ResolvedModel) throws(ModelError) {
    let mistakes = Mistakes()
    for entity in model.entities {
      for attribute in entity.description.attributes {
        guard let type = attribute.swiftTypeName, !SwiftName.isTypeReference(type) else { continue }
        mistakes.add(
          ModelError(
            .invalidModel,
            message:
              "\(entity.name).\(attribute.name): swift = \(type.debugDescription) is no type in Swift: write its "
              + "name, without ? for a value that may be missing",
            at: attribute.location, entity: entity.name, property: attribute.name))
      }
    }
    try mistakes.finish()
  }

  /// The error about an entity's class, with advice.
  private static func mistake(_ what: String, _ entity: ResolvedEntity) -> ModelError {
    ModelError(
      .invalidModel, message: "\(entity.name): \(what): give the entity another class in the model",
      at: entity.description.location, entity: entity.name)
  }

  /// Checks entities that share a class: they must name it identically and inherit from the same class.
  ///
  /// Throws `.invalidModel`.
  private func checkSharing() throws(ModelError) {
    let mistakes = Mistakes()
    for (index, type) in classes.enumerated() {
      for entity in type.entities.dropFirst() {
        let other = type.entities[0].name
        if entity.description.managedObjectClassName != type.nameInModel {
          mistakes.add(Self.mistake("its class \(type.name) has the name of another one, that of \(other)", entity))
        } else if case let parent = entity.parent.map({ classOf[$0] }), parent != type.parent, parent != index {
          mistakes.add(Self.mistake("its class \(type.name) is that of \(other), whose parent is another one", entity))
        }
      }
    }
    try mistakes.finish()
  }

  /// The class name without its module; nil for an entity with plain managed objects.
  private static func plainClassName(of entity: ResolvedEntity) -> String? {
    guard let name = entity.description.managedObjectClassName else { return nil }
    let plain = name.split(separator: ".").last.map(String.init) ?? name
    return ["NSManagedObject", "ManagedObject"].contains(plain) ? nil : plain
  }

  /// Groups the entities by class. Entities that name the same class share it; an entity without a class gets its own.
  private mutating func group() {
    var places: [String: Int] = [:]
    classOf = []
    var taken = Set(model.entities.compactMap(Self.plainClassName))
    for entity in model.entities {
      if let name = Self.plainClassName(of: entity) {
        if let place = places[name] {
          let known = classes[place]
          classes[place] = SwiftClass(
            name: name, nameInModel: known.nameInModel, entities: known.entities + [entity], parent: known.parent)
        } else {
          places[name] = classes.count
          append(entity, name, named: entity.description.managedObjectClassName)
        }
        classOf.append(places[name] ?? 0)
      } else {
        var name = entity.name
        while !taken.insert(name).inserted || name == "ManagedObject" { name += "Object" }
        classOf.append(classes.count)
        append(entity, name, named: nil)
      }
    }
  }

  /// Adds a class with its first entity.
  private mutating func append(_ entity: ResolvedEntity, _ name: String, named: String?) {
    // Parents come before their children.
    classes.append(
      SwiftClass(name: name, nameInModel: named, entities: [entity], parent: entity.parent.map { classOf[$0] }))
  }

  // MARK: Properties

  /// Adds the properties of a class. Properties that are inherited, or shared with another entity of the class, are not
  /// repeated. A property with another type gets another name.
  ///
  /// `listNames` are the names of the static lists of key paths, which no property may have.
  private mutating func addProperties(to index: Int, besides listNames: Set<String>) {
    let inherited = classes[index].parent.map(allProperties) ?? []
    let inheritedNames = Set(inherited.map(\.name))
    // A key is visible in all classes, so a key with the name of a type would hide the type.
    let typeNames = names.classes.union(namesOfTypes)
    let inheritedTypes = enumerations(of: classes[index].parent)
    var taken = listNames.union(inherited.map(\.swiftName)).union(typeNames).union(SwiftTypeNames.known)
      .union(inheritedTypes)
    var types: [String: String] = [:]
    for entity in classes[index].entities {
      for (name, kind, type, comment) in stated(of: entity) where !inheritedNames.contains(name) {
        let wanted = types[name] == nil ? name : "\(name)_\(entity.name)"
        let swiftName = SwiftName.property(wanted, besides: taken)
        var property = SwiftProperty(name: name, swiftName: swiftName, kind: kind, type: type, comment: comment)
        let cases = property.attribute.flatMap(SwiftEnumeration.init)
        let signature = "\(property.valueType) \(cases?.signature ?? "")"
        if types[name] == signature { continue }
        types[name] = types[name] ?? signature
        taken.insert(property.swiftName)
        if let cases, let attribute = property.attribute {
          let nested = SwiftName.nestedType(swiftName, besides: taken)
          taken.insert(nested)
          property = SwiftProperty(
            name: name, swiftName: swiftName, kind: kind,
            type: "\(classes[index].name).\(nested)\(SwiftType.mark(attribute))", comment: comment,
            enumeration: (nested, cases))
        }
        classes[index].add(property)
      }
    }
  }

  /// The names of the enumerations of a class and its ancestors.
  private func enumerations(of index: Int?) -> Set<String> {
    guard let index else { return [] }
    return enumerations(of: classes[index].parent).union(classes[index].enumerations)
  }

  /// The first components of the types that the model declares for values.
  private var namesOfTypes: Set<String> {
    let attributes = model.entities.flatMap(\.description.attributes)
    return Set(attributes.flatMap { $0.swiftTypeName.map(SwiftName.words) ?? [] })
  }

  /// A property as the model states it, with its Swift type and comment.
  private typealias Stated = (name: String, kind: SwiftProperty.Kind, type: String, comment: [String])

  /// The properties that an entity declares: attributes, relationships and fetched properties.
  private func stated(of entity: ResolvedEntity) -> [Stated] {
    let description = entity.description
    let attributes = description.attributes.map { attribute -> Stated in
      (
        attribute.name, .attribute(attribute), SwiftType.of(attribute, in: names),
        SwiftProperty.comment(attribute.userInfo, or: Self.sentence(attribute))
      )
    }
    let relationships = description.relationships.map { relationship -> Stated in
      (
        relationship.name, relationship.isToMany ? .toMany(isOrdered: relationship.isOrdered) : .toOne,
        className(of: relationship.destinationEntityName), SwiftProperty.comment(relationship.userInfo, or: nil)
      )
    }
    let fetched = description.fetchedProperties.map { property -> Stated in
      let predicate = property.fetchRequest.predicate.map { "Fetched: \(SwiftName.comment("\($0)"))" }
      return (
        property.name, .fetched, className(of: property.fetchRequest.entityName),
        SwiftProperty.comment(property.userInfo, or: predicate)
      )
    }
    return attributes + relationships + fetched
  }

  /// The class of an entity; `ManagedObject` for an unknown one.
  private func className(of entity: String) -> String {
    model.entity(entity).map { classes[classOf[$0.index]].name } ?? names.written("ManagedObject")
  }

  /// A sentence about an attribute whose type needs explanation.
  private static func sentence(_ attribute: AttributeDescription) -> String? {
    switch attribute.type {
    case .transformable:
      let by = attribute.valueTransformerName.map { " by \(SwiftName.comment($0))" } ?? ""
      return "A transformed value\(attribute.valueClassName.map { ", \(SwiftName.comment($0))," } ?? "")\(by)."
    case .composite: return "A map of \(attribute.elements.map { SwiftName.comment($0.name) }.joined(separator: ", "))."
    case _ where attribute.derivationExpression != nil:
      return "Derived: `\(SwiftName.comment(attribute.derivationExpression ?? ""))`."
    case _ where attribute.isTransient: return "Kept in memory only."
    default: return nil
    }
  }
}
