import MoonbaseLua
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Checks extensions against the model: names that it must have, things that only one may provide.
struct ExtensionChecker {
  let declarations: [ExtensionDeclaration]
  /// What Swift code provides beside the files.
  let swift: ExtensionDomain
  let model: ResolvedModel
  /// The names of the methods that every object has.
  let hostMethods: [String]
  /// The names of the types that the program registered.
  let swiftTypes: [String]

  func check() throws {
    try checkOwners()
    try checkTypes()
    try checkSwift()
    for declaration in declarations {
      for entity in declaration.entities { try check(entity, of: declaration) }
      for (name, entries) in declaration.valueClasses {
        let entity = try entity(name, at: ["value_classes", name], in: declaration)
        for (key, className) in entries.sorted(by: { $0.key < $1.key }) {
          let place = ["value_classes", name, key]
          try require(key, of: entity, at: place, in: declaration)
          guard entity.property(key)?.relationship == nil else {
            throw error(
              "\(name).\(key) is a relationship, whose values are objects: only attributes have a value class",
              at: place, in: declaration)
          }
          try checkClass(className, subject: "\(name).\(key)", at: place, in: declaration)
        }
      }
      for transformer in declaration.transformers {
        guard let className = transformer.className else { continue }
        try checkClass(
          className, subject: "transformer \(transformer.name)", at: ["transformers", transformer.name, "class"],
          in: declaration)
      }
    }
    try checkModelNames()
    try checkOneWay()
    try DerivedCycles(declarations: declarations, model: model).check()
  }

  private func check(_ entry: ExtensionDeclaration.Entity, of declaration: ExtensionDeclaration) throws {
    let path = ["entities", entry.name]
    let entity = try entity(entry.name, at: path, in: declaration)
    for (key, _) in entry.normalize { try require(key, of: entity, at: path + ["normalize", key], in: declaration) }
    for (key, _) in entry.validate { try require(key, of: entity, at: path + ["validate", key], in: declaration) }
    for (name, _) in entry.methods {
      guard let hidden = hidden(method: name, of: entity) else { continue }
      throw error(hidden, at: path + ["methods", name], in: declaration)
    }
    for derived in entry.derived {
      let place = path + ["derived", derived.name]
      let subject = "\(entity.name).\(derived.name)"
      if let property = entity.property(derived.name), property.relationship != nil {
        throw error(
          "\(subject) is a relationship of the model: a derived attribute needs another name",
          at: place, in: declaration)
      }
      if let attribute = entity.property(derived.name)?.attribute, !attribute.isTransient, !derived.isStored {
        throw error(
          "\(subject) is a persistent attribute of the model, and its column would stay empty: "
            + "add stored = true to keep it current at each save, or make it transient in the model",
          at: place, in: declaration)
      }
      if derived.isStored, let attribute = entity.property(derived.name)?.attribute, attribute.type == .transformable,
        !attribute.isTransient, !provides(attribute.transformerName)
      {
        throw error(
          "\(subject) is stored, and \(attribute.lackOfTransformer)", at: place + ["stored"], in: declaration)
      }
      if let shadow = derived.shadow {
        try require(shadow, of: entity, for: "\(subject), its shadow", at: place + ["shadow"], in: declaration)
      }
      for input in derived.inputs ?? [] {
        try checkPath(input, of: entity, for: subject, at: place + ["inputs"], in: declaration)
      }
      if let name = derived.transformer, !provides(name) {
        throw error(
          "\(subject): no extension provides transformer \(name)\(hint(name, among: transformerNames))",
          at: place + ["transformer"], in: declaration)
      }
      if let shadow = derived.shadow, let name = derived.transformer, isOneWay(name),
        entity.property(shadow)?.isTransient == false
      {
        throw error(
          oneWay(name, subject: "\(subject), whose shadow \(shadow) is saved"),
          at: place + ["transformer"],
          in: declaration)
      }
    }
  }

  /// What is wrong with a method whose name is taken. A subentity may have a property of the name: there the property wins.
  private func hidden(method name: String, of entity: ResolvedEntity) -> String? {
    let subject = "\(entity.name): the method \(name)"
    if hostMethods.contains(name) {
      return "\(subject) would hide the method \(name) that every object has: give it another name"
    }
    guard entity.property(name) != nil || entity.fetchedProperties[name] != nil else { return nil }
    return "\(subject) would be hidden by the property \(entity.name).\(name), which wins: give it another name"
  }

  private func entity(_ name: String, at path: [String], in declaration: ExtensionDeclaration) throws -> ResolvedEntity
  {
    if let entity = model.entity(name) { return entity }
    if model.entities.isEmpty {
      throw error(
        "the model has no entity \(name), nor any other: name the model that the extension is for", at: path,
        in: declaration)
    }
    throw error(
      "the model has no entity \(name)\(hint(name, among: model.entities.map(\.name)))", at: path, in: declaration)
  }

  private func require(
    _ key: String, of entity: ResolvedEntity, for subject: String? = nil, at path: [String],
    in declaration: ExtensionDeclaration
  ) throws {
    if entity.property(key) != nil { return }
    throw error((subject.map { "\($0): " } ?? "") + entity.noProperty(key), at: path, in: declaration)
  }

  /// An input: a key path to one value, with an aggregate where it leads through to-many relationships.
  private func checkPath(
    _ text: String, of entity: ResolvedEntity, for subject: String, at path: [String],
    in declaration: ExtensionDeclaration
  ) throws {
    let isToMany: Bool
    do {
      isToMany = try model.isToMany(
        text.split(separator: ".", omittingEmptySubsequences: false).map(String.init), from: entity)
    } catch {
      throw self.error("\(subject): the input \(text): \(error.message)", at: path, in: declaration)
    }
    if isToMany {
      throw self.error(
        "\(subject): the input \(text) leads to several values: take one of them all, as items.@sum.price or items.@count do",
        at: path,
        in: declaration)
    }
  }

  // MARK: What only one may provide

  private var classNames: [String] {
    declarations.flatMap { $0.classes.map(\.name) } + swift.valueClasses.keys.sorted()
  }

  private func checkClass(_ name: String, subject: String, at path: [String], in declaration: ExtensionDeclaration)
    throws
  {
    if classNames.contains(name) || AppleNames.isValueClass(name) { return }
    throw error(
      "\(subject): no extension provides class \(name)\(hint(name, among: classNames)): list its metatable in classes",
      at: path,
      in: declaration)
  }

  /// The types of Swift that classes name. A program that registers none is not the one that they are for.
  private func checkTypes() throws {
    for declaration in declarations {
      for (name, table) in declaration.classes {
        let named = try table.get("swift")
        guard named.isPresent else { continue }
        guard let type = named.textValue else {
          throw error(
            "class \(name): swift names a type of the program by a string, not by \(named.typePhrase)",
            at: ["classes", name], in: declaration)
        }
        guard !swiftTypes.isEmpty, !swiftTypes.contains(type) else { continue }
        throw error(
          "class \(name): the program registers no type \(type)\(hint(type, among: swiftTypes))",
          at: ["classes", name], in: declaration)
      }
    }
  }

  private func isOneWay(_ name: String) -> Bool {
    if let transformer = swift.transformers[name] { return transformer.reverseTransformedValue == nil }
    return declarations.contains { $0.transformers.contains { $0.name == name && $0.reverse == nil } }
  }

  private func oneWay(_ name: String, subject: String) -> String {
    "transformer \(name) has no reverse to read what it saves for \(subject): "
      + "give it a function reverse(bytes), or make the attribute transient"
  }

  /// What a transformer without `reverse` makes may not be kept.
  private func checkOneWay() throws {
    for entity in model.entities {
      for attribute in entity.description.attributes where attribute.type == .transformable && !attribute.isTransient {
        let name = attribute.transformerName
        guard isOneWay(name) else { continue }
        let message = oneWay(name, subject: "\(entity.name).\(attribute.name)")
        guard let declaration = declarations.first(where: { $0.transformers.contains { $0.name == name } }) else {
          throw ScriptError(.invalidExtension, message: message, entity: entity.name, property: attribute.name)
        }
        var refused = error(message, at: ["transformers", name], in: declaration)
        (refused.entity, refused.property) = (entity.name, attribute.name)
        throw refused
      }
    }
  }

  /// Whether there is a transformer of a name that makes bytes.
  private func provides(_ name: String) -> Bool {
    transformerNames.contains(name) || AppleNames.isDefaultTransformer(name)
  }

  private var transformerNames: [String] {
    declarations.flatMap { $0.transformers.map(\.name) } + swift.transformers.keys.sorted()
      + ReadyMadeTransformers.names
  }

  /// Names in Swift code that the model has not.
  private func checkSwift() throws {
    for (name, extensions) in swift.extensions.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(name) else {
        let hint = hint(name, among: model.entities.map(\.name))
        throw ScriptError(
          .invalidExtension, message: "an extension in Swift: the model has no entity \(name)\(hint)", entity: name)
      }
      for extended in extensions {
        let derived = extended.derived.compactMap { derived in
          derived.shadow.map { ($0, "\(name).\(derived.name), its shadow: ") }
        }
        let keys = (extended.normalize.keys.sorted() + extended.validate.keys.sorted()).map { ($0, "") } + derived
        if let hidden = extended.methods.keys.sorted().compactMap({ hidden(method: $0, of: entity) }).first {
          throw ScriptError(.invalidExtension, message: "an extension in Swift: \(hidden)", entity: name)
        }
        guard let (key, subject) = keys.first(where: { entity.property($0.0) == nil }) else { continue }
        throw ScriptError(
          .invalidExtension, message: "an extension in Swift: \(subject)\(entity.noProperty(key))", entity: name,
          property: key)
      }
    }
  }

  private func checkOwners() throws {
    var owners: [String: String] = [:]
    for name in swift.transformers.keys { owners["transformer \(name)"] = "Swift code" }
    for name in swift.valueClasses.keys { owners["class \(name)"] = "Swift code" }
    for (entity, extensions) in swift.extensions {
      for derived in extensions.flatMap(\.derived) {
        owners["derived attribute \(entity).\(derived.name)"] = "Swift code"
      }
      for name in extensions.flatMap(\.methods.keys) { owners["method \(entity).\(name)"] = "Swift code" }
    }
    func claim(_ thing: String, at path: [String], in declaration: ExtensionDeclaration) throws {
      if let other = owners.updateValue(declaration.source.name, forKey: thing) {
        throw ScriptError(
          .extensionConflict, message: "\(thing) is already provided by \(other)",
          at: declaration.source.location(of: path))
      }
    }
    for declaration in declarations {
      for transformer in declaration.transformers {
        try claim("transformer \(transformer.name)", at: ["transformers", transformer.name], in: declaration)
      }
      for (name, table) in declaration.classes {
        // Extensions may have one class of a module on board.
        if declarations.contains(where: { other in
          other.source != declaration.source && other.classes.contains { $0.name == name && $0.value.isSame(as: table) }
        }) {
          continue
        }
        try claim("class \(name)", at: ["classes", name], in: declaration)
      }
      for entity in declaration.entities {
        for (name, _) in entity.methods {
          try claim("method \(entity.name).\(name)", at: ["entities", entity.name, "methods", name], in: declaration)
        }
        for derived in entity.derived {
          try claim(
            "derived attribute \(entity.name).\(derived.name)", at: ["entities", entity.name, "derived", derived.name],
            in: declaration)
        }
      }
    }
  }

  /// A class or transformer that the model names and nothing provides is an error, unless the model's app is not here.
  private func checkModelNames() throws {
    guard !model.description.allowsUnknownClasses else { return }
    for entity in model.entities {
      for attribute in entity.description.attributes where attribute.type == .transformable {
        if let name = attribute.valueTransformerName, !provides(name), AppleNames.isTransformer(name),
          !attribute.isTransient
        {
          throw ModelError(
            .invalidModel, message: "\(entity.name).\(attribute.name): \(attribute.lackOfTransformer)",
            at: attribute.location, entity: entity.name, property: attribute.name)
        }
        if let name = attribute.valueTransformerName, !provides(name), !AppleNames.isTransformer(name) {
          throw ModelError(
            .invalidModel,
            message:
              "\(entity.name).\(attribute.name): no extension provides transformer \(name)\(hint(name, among: transformerNames))",
            at: attribute.location, entity: entity.name, property: attribute.name)
        }
      }
      for attribute in entity.description.attributes {
        guard let name = attribute.valueClassName, !classNames.contains(name), !AppleNames.isValueClass(name)
        else { continue }
        throw ModelError(
          .invalidModel,
          message:
            "\(entity.name).\(attribute.name): no extension provides class \(name)\(hint(name, among: classNames))",
          at: attribute.location, entity: entity.name, property: attribute.name)
      }
    }
  }

  private func hint(_ name: String, among names: [String]) -> String {
    suggestion(for: name, among: names)
  }

  private func error(_ message: String, at path: [String], in declaration: ExtensionDeclaration) -> ScriptError {
    ScriptError(
      .invalidExtension, message: message, at: declaration.source.location(of: path),
      entity: ExtensionPlace(keys: path).entity, property: ExtensionPlace(keys: path).property)
  }
}
