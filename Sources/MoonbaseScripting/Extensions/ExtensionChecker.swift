import MoonbaseLua
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Checks extensions against the model: their names, and declarations that only a single extension may provide.
/// Collects all mistakes.
///
/// Runs after the declarations were read and ordered, and before any closure is made for them. Mistakes go to
/// `mistakes` with file and line; `check()` itself throws only errors that end the run. Messages contain a suggestion
/// for misspelt names.
struct ExtensionChecker {
  /// The declarations in the order of application.
  let declarations: [ExtensionDeclaration]
  /// The declarations of Swift code beside the files.
  let swift: ExtensionRegistry
  /// The model with the attributes that extensions add.
  let model: ResolvedModel
  /// The names of the methods that every object has.
  let hostMethods: [String]
  /// The names of the types that the program registered.
  let swiftTypes: [String]
  /// The collector that is shared with the other steps of reading.
  let mistakes: ExtensionMistakes

  /// Runs all checks.
  func check() throws {
    checkOwners()
    try checkTypes()
    checkSwift()
    for declaration in declarations {
      checkHashes(declaration)
      for entity in declaration.entities { try check(entity, of: declaration) }
      for (name, entries) in declaration.valueClasses.sorted(by: { $0.key < $1.key }) {
        try mistakes.attempt { try checkValueClasses(entries, of: name, in: declaration) }
      }
      for transformer in declaration.transformers {
        guard let className = transformer.className else { continue }
        checkClass(
          className, subject: "transformer \(transformer.name)", at: ["transformers", transformer.name, "class"],
          in: declaration)
      }
    }
    checkModelNames()
    checkOneWay()
    DerivedCycles(declarations: declarations, model: model).check(mistakes)
  }

  /// Checks `value_classes = { Person = { color = "Color" } }`: entity, attribute, class and the attribute's type.
  private func checkValueClasses(
    _ entries: [String: String], of name: String, in declaration: ExtensionDeclaration
  ) throws {
    let entity = try entity(name, at: ["value_classes", name], in: declaration)
    for (key, className) in entries.sorted(by: { $0.key < $1.key }) {
      let place = ["value_classes", name, key]
      guard has(key, entity, at: place, in: declaration) else { continue }
      if entity.property(key)?.relationship != nil {
        refuse(
          "\(name).\(key) is a relationship, whose values are objects: only attributes have a value class",
          at: place, in: declaration)
      } else {
        checkClass(className, subject: "\(name).\(key)", at: place, in: declaration)
        guard classNames.contains(className) else { continue }
        checkHoldsClass(entity.property(key)?.attributeType, "\(name).\(key)", at: place, in: declaration)
      }
    }
  }

  /// A value of a class is a table, which attributes of other types never accept. Adds a mistake for an attribute of
  /// another type than transformable or undefined.
  private func checkHoldsClass(
    _ type: AttributeType?, _ subject: String, at place: [String], in declaration: ExtensionDeclaration
  ) {
    guard let type, type != .transformable, type != .undefined else { return }
    refuse(
      "\(subject) is \(type.phrase): only transformable and undefined attributes have values of a class", at: place,
      in: declaration)
  }

  /// Checks the keys of `entities.NAME`: attributes to normalize, rules, methods and derived attributes.
  private func check(_ entry: ExtensionDeclaration.Entity, of declaration: ExtensionDeclaration) throws {
    let path = ["entities", entry.name]
    var found: ResolvedEntity?
    try mistakes.attempt { found = try entity(entry.name, at: path, in: declaration) }
    guard let entity = found else { return }
    for (key, _) in entry.normalize {
      let place = path + ["normalize", key]
      guard has(key, entity, at: place, in: declaration), entity.property(key)?.relationship != nil else { continue }
      refuse(
        "\(entry.name).\(key) is a relationship: only values of attributes are normalized, will_save may change it",
        at: place, in: declaration)
    }
    for (key, _) in entry.validate {
      let place = path + ["validate", key]
      guard key.contains(".") else {
        _ = has(key, entity, at: place, in: declaration)
        continue
      }
      guard let problem = PathRule.problem(of: key, from: entity, in: model) else { continue }
      refuse("\(entity.name): the rule over \(key): \(problem)", at: place, in: declaration)
    }
    for (name, _) in entry.methods {
      guard let hidden = hidden(method: name, of: entity) else { continue }
      refuse(hidden, at: path + ["methods", name], in: declaration)
    }
    for derived in entry.derived { check(derived, of: entity, at: path + ["derived", derived.name], in: declaration) }
  }

  // MARK: Derived attributes

  /// Checks the name, the shadow and the inputs of a derived attribute.
  private func check(
    _ derived: ExtensionDeclaration.Derived, of entity: ResolvedEntity, at place: [String],
    in declaration: ExtensionDeclaration
  ) {
    let subject = "\(entity.name).\(derived.name)"
    if entity.property(derived.name)?.relationship != nil {
      refuse(
        "\(subject) is a relationship of the model: a derived attribute needs another name",
        at: place, in: declaration)
    } else if let attribute = entity.property(derived.name)?.attribute {
      check(derived, over: attribute, subject: subject, at: place, in: declaration)
    }
    checkShadow(derived, of: entity, subject: subject, at: place, in: declaration)
    for input in derived.inputs ?? [] {
      checkPath(input, of: entity, isPure: derived.isPure, for: subject, at: place + ["inputs"], in: declaration)
    }
  }

  /// Checks a derived attribute against the attribute of the model, or the attribute added for it.
  ///
  /// A persistent attribute must be declared `stored`, a stored transformable needs a transformer, and the types must
  /// agree.
  private func check(
    _ derived: ExtensionDeclaration.Derived, over attribute: AttributeDescription, subject: String, at place: [String],
    in declaration: ExtensionDeclaration
  ) {
    if !attribute.isTransient, !derived.isStored {
      refuse(
        "\(subject) is a persistent attribute of the model, and its column would stay empty: "
          + "add stored = true to keep it current at each save, or make it transient in the model",
        at: place, in: declaration)
    }
    if derived.isStored, attribute.type == .transformable, !attribute.isTransient,
      !provides(attribute.transformerName)
    {
      refuse("\(subject) is stored, and \(attribute.lackOfTransformer)", at: place + ["stored"], in: declaration)
    }
    // Whether two extensions agree about attributes that the model lacks is checked elsewhere.
    if let type = derived.type, type != attribute.type, attribute.type != .undefined,
      model.base?.entity(place[1])?.property(derived.name) != nil || model.base == nil
    {
      refuse(
        "\(subject) is \(type.phrase) here, and \(attribute.type.phrase) in the model: leave out type, or give both one type",
        at: place + ["type"], in: declaration)
    }
  }

  /// Checks the shadow: it exists, it is an attribute, its transformer exists and its type can hold the transformer's
  /// bytes. A saved shadow needs a transformer with `reverse`.
  private func checkShadow(
    _ derived: ExtensionDeclaration.Derived, of entity: ResolvedEntity, subject: String, at place: [String],
    in declaration: ExtensionDeclaration
  ) {
    if let name = derived.transformer, derived.shadow != nil, !provides(name) {
      refuse(
        "\(subject): no extension provides transformer \(name)\(transformerHint(name))",
        at: place + ["transformer"], in: declaration)
    }
    guard let shadow = derived.shadow,
      has(shadow, entity, for: "\(subject), its shadow", at: place + ["shadow"], in: declaration)
    else { return }
    guard let attribute = entity.property(shadow)?.attribute else {
      return refuse(
        "\(subject), its shadow: \(entity.name).\(shadow) is a relationship: a shadow is an attribute",
        at: place + ["shadow"], in: declaration)
    }
    guard let name = derived.transformer else { return }
    if isOneWay(name), !attribute.isTransient {
      refuse(
        oneWay(name, subject: "\(subject), whose shadow \(shadow) is saved"), at: place + ["transformer"],
        in: declaration)
    }
    if makesBytes(name), ![.binaryData, .undefined, .transformable].contains(attribute.type) {
      refuse(
        "\(subject): transformer \(name) makes bytes, and its shadow \(entity.name).\(shadow) is \(attribute.type.phrase): make it binary",
        at: place + ["shadow"], in: declaration)
    }
  }

  /// Whether a transformer is known to make bytes that are not text. Custom transformers may return text, so only the
  /// transformers of Core Data's defaults and the ready-made ones count.
  private func makesBytes(_ name: String) -> Bool {
    let isOwn = declarations.contains { declaration in
      declaration.source.name != ReadyMadeTransformers.sourceName
        && declaration.transformers.contains { $0.name == name }
    }
    if isOwn || swift.transformers[name] != nil { return false }
    return AppleNames.isDefaultTransformer(name) || ReadyMadeTransformers.namesOfThoseOfBytes.contains(name)
  }

  // MARK: Names

  /// The mistake in a method whose name is taken. If a subentity has a property with this name, the property takes
  /// precedence there. Nil for a free name.
  private func hidden(method name: String, of entity: ResolvedEntity) -> String? {
    let subject = "\(entity.name): the method \(name)"
    if hostMethods.contains(name) {
      return "\(subject) would hide the method \(name) that every object has: give it another name"
    }
    guard entity.property(name) != nil || entity.fetchedProperties[name] != nil else { return nil }
    return "\(subject) would be hidden by the property \(entity.name).\(name), which wins: give it another name"
  }

  /// The entity with this name. Throws `.invalidExtension` with a suggestion.
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

  /// Whether an entity has a property. Collects a mistake if not.
  private func has(
    _ key: String, _ entity: ResolvedEntity, for subject: String? = nil, at path: [String],
    in declaration: ExtensionDeclaration
  ) -> Bool {
    if entity.property(key) != nil { return true }
    refuse((subject.map { "\($0): " } ?? "") + entity.noProperty(key), at: path, in: declaration)
    return false
  }

  /// Checks an input, which is a key path. For a pure attribute it must give a single value, so a path through to-many
  /// relationships needs an aggregate. Aggregates are `@sum`, `@count` and their like.
  private func checkPath(
    _ text: String, of entity: ResolvedEntity, isPure: Bool, for subject: String, at path: [String],
    in declaration: ExtensionDeclaration
  ) {
    do {
      let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard try model.isToMany(keys, from: entity), isPure else { return }
      refuse(
        "\(subject): the input \(text) leads to several values, and a pure attribute takes single ones: "
          + "name one of them all, as items.@sum.price or items.@count do, or leave out pure",
        at: path, in: declaration)
    } catch {
      refuse("\(subject): the input \(text): \(error.message)", at: path, in: declaration)
    }
  }

  /// Checks the version hashes of entities that an extension requires. For `requires = { model = { Person = "6f1e2a04"
  /// } }`: a hexadecimal prefix of the entity's version hash.
  private func checkHashes(_ declaration: ExtensionDeclaration) {
    for (name, hash) in declaration.requiredHashes {
      let place = ["requires", "model", name]
      guard let entity = model.entity(name) else {
        refuse(
          "the model has no entity \(name)\(hint(name, among: model.entities.map(\.name)))", at: place, in: declaration)
        continue
      }
      let bytes = (model.base ?? model).versionHashes[entity.name] ?? Data()
      let own = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      guard !own.hasPrefix(hash) else { continue }
      refuse(
        "the extension is for a version of \(entity.name) with the hash \(hash), and the model's begins with \(own.prefix(max(8, hash.count)))",
        at: place, in: declaration)
    }
  }

  // MARK: What only one may provide

  /// The classes of all extensions, in files and in Swift code.
  private var classNames: [String] {
    declarations.flatMap { $0.classes.map(\.name) } + swift.valueClasses.keys.sorted()
  }

  /// Adds a mistake if no extension provides a class and Core Data has no class of this name.
  private func checkClass(_ name: String, subject: String, at path: [String], in declaration: ExtensionDeclaration) {
    if classNames.contains(name) || AppleNames.isValueClass(name) { return }
    refuse(
      "\(subject): no extension provides class \(name)\(hint(name, among: classNames)): list its metatable in classes",
      at: path,
      in: declaration)
  }

  /// Checks the Swift types that classes name. Skipped in a program that registers no types, because the classes are
  /// meant for another program.
  private func checkTypes() throws {
    for declaration in declarations {
      for (name, table) in declaration.classes {
        let named = try table.get("swift")
        guard named.isPresent else { continue }
        guard let type = named.textValue else {
          refuse(
            "class \(name): swift names a type of the program by a string, not by \(named.typePhrase)",
            at: ["classes", name], in: declaration)
          continue
        }
        guard !swiftTypes.isEmpty, !swiftTypes.contains(type) else { continue }
        refuse(
          "class \(name): the program registers no type \(type)\(hint(type, among: swiftTypes))",
          at: ["classes", name], in: declaration)
      }
    }
  }

  /// Whether a transformer is known to lack the direction from bytes to values.
  private func isOneWay(_ name: String) -> Bool {
    if let transformer = swift.transformers[name] { return transformer.reverseTransformedValue == nil }
    return declarations.contains { $0.transformers.contains { $0.name == name && $0.reverse == nil } }
  }

  /// The message about such a transformer.
  private func oneWay(_ name: String, subject: String) -> String {
    "transformer \(name) has no reverse to read what it saves for \(subject): "
      + "give it a function reverse(bytes), or make the attribute transient"
  }

  /// Refuses a stored attribute whose transformer has no `reverse`, because the bytes could not be read back.
  private func checkOneWay() {
    for entity in model.entities {
      for attribute in entity.description.attributes where attribute.type == .transformable && !attribute.isTransient {
        let name = attribute.transformerName
        guard isOneWay(name) else { continue }
        let owner = declarations.first { $0.transformers.contains { $0.name == name } }
        mistakes.add(
          ScriptError(
            .invalidExtension, message: oneWay(name, subject: "\(entity.name).\(attribute.name)"),
            at: owner?.source.location(of: ["transformers", name]), entity: entity.name, property: attribute.name))
      }
    }
  }

  /// Whether a transformer with this name exists and makes bytes. Transformers with mistakes count, so that their
  /// absence is not reported a second time.
  private func provides(_ name: String) -> Bool {
    transformerNames.contains(name) || AppleNames.isDefaultTransformer(name)
      || ReadyMadeTransformers.names.contains(name)
  }

  /// The transformers of all extensions, in files and in Swift code.
  private var transformerNames: [String] {
    declarations.flatMap { $0.transformers.map(\.name) + $0.unreadTransformers } + swift.transformers.keys.sorted()
  }

  /// A suggestion for a misspelt transformer. The common ending of the ready-made names is ignored, because it would
  /// make any two names similar.
  private func transformerHint(_ name: String) -> String {
    let own = hint(name, among: transformerNames.filter { !ReadyMadeTransformers.names.contains($0) })
    guard own.isEmpty else { return own }
    func stem(_ name: String) -> String { name.firstRange(of: "Trans").map { String(name[..<$0.lowerBound]) } ?? name }
    let wanted = stem(name)
    let stems = ReadyMadeTransformers.names.map(stem)
    let nearest = stems.contains(wanted) ? wanted : nearestName(to: wanted, among: stems)
    return nearest.map { "; did you mean \($0)Transformer?" } ?? ""
  }

  /// Checks the names in declarations of Swift code. Checks entities, properties, shadows and methods, as for files.
  /// The mistakes have no place.
  private func checkSwift() {
    for (name, extensions) in swift.extensions.sorted(by: { $0.key < $1.key }) {
      guard let entity = model.entity(name) else {
        let hint = hint(name, among: model.entities.map(\.name))
        refuseSwift("the model has no entity \(name)\(hint)", entity: name)
        continue
      }
      for extended in extensions {
        let derived = extended.derived.compactMap { derived in
          derived.shadow.map { ($0, "\(name).\(derived.name), its shadow: ") }
        }
        let keys = (extended.normalize.keys.sorted() + extended.validate.keys.sorted()).map { ($0, "") } + derived
        for method in extended.methods.keys.sorted() {
          if let hidden = hidden(method: method, of: entity) { refuseSwift(hidden, entity: name) }
        }
        for (key, subject) in keys where entity.property(key) == nil {
          refuseSwift("\(subject)\(entity.noProperty(key))", entity: name, property: key)
        }
      }
    }
  }

  /// Adds a mistake of Swift code.
  private func refuseSwift(_ message: String, entity: String, property: String? = nil) {
    mistakes.add(
      ScriptError(
        .invalidExtension, message: "an extension in Swift: \(message)", entity: entity, property: property))
  }

  /// A transformer, a class, a method and a derived attribute may each have a single owner. A second owner is an
  /// `.extensionConflict`, at the line of the second declaration. Rules and hooks may be declared by any number of
  /// extensions.
  private func checkOwners() {
    var owners: [String: String] = [:]
    for name in swift.transformers.keys { owners["transformer \(name)"] = "Swift code" }
    for name in swift.valueClasses.keys { owners["class \(name)"] = "Swift code" }
    for (entity, extensions) in swift.extensions {
      for derived in extensions.flatMap(\.derived) {
        owners["derived attribute \(entity).\(derived.name)"] = "Swift code"
      }
      for name in extensions.flatMap(\.methods.keys) { owners["method \(entity).\(name)"] = "Swift code" }
    }
    func claim(_ thing: String, at path: [String], in declaration: ExtensionDeclaration) {
      if let other = owners.updateValue(declaration.source.name, forKey: thing) {
        mistakes.add(
          ScriptError(
            .extensionConflict, message: "\(thing) is already provided by \(other)",
            at: declaration.source.location(of: path)))
      }
    }
    for declaration in declarations {
      for transformer in declaration.transformers {
        claim("transformer \(transformer.name)", at: ["transformers", transformer.name], in: declaration)
      }
      for (name, table) in declaration.classes {
        // Several extensions may share a class of the same module.
        if declarations.contains(where: { other in
          other.source != declaration.source && other.classes.contains { $0.name == name && $0.value.isSame(as: table) }
        }) {
          continue
        }
        claim("class \(name)", at: ["classes", name], in: declaration)
      }
      for entity in declaration.entities {
        for (name, _) in entity.methods {
          claim("method \(entity.name).\(name)", at: ["entities", entity.name, "methods", name], in: declaration)
        }
        for derived in entity.derived {
          claim(
            "derived attribute \(entity.name).\(derived.name)", at: ["entities", entity.name, "derived", derived.name],
            in: declaration)
        }
      }
    }
  }

  /// Refuses classes and transformers that the model names and nothing provides, unless the model is without its app. A
  /// model is without its app when it is only inspected, for example by `moonbase info`.
  private func checkModelNames() {
    guard !model.description.allowsUnknownClasses else { return }
    for entity in model.entities {
      for attribute in entity.description.attributes where attribute.type == .transformable {
        if let name = attribute.valueTransformerName, !provides(name), AppleNames.isTransformer(name),
          !attribute.isTransient
        {
          refuse(attribute.lackOfTransformer, of: attribute, entity)
        }
        if let name = attribute.valueTransformerName, !provides(name), !AppleNames.isTransformer(name) {
          refuse(
            "no extension provides transformer \(name)\(transformerHint(name))", of: attribute, entity)
        }
      }
      for attribute in entity.description.attributes {
        guard let name = attribute.valueClassName, !classNames.contains(name), !AppleNames.isValueClass(name)
        else { continue }
        refuse("no extension provides class \(name)\(hint(name, among: classNames))", of: attribute, entity)
      }
    }
  }

  /// Adds a mistake of the model, at the attribute's line in the model file.
  private func refuse(_ message: String, of attribute: AttributeDescription, _ entity: ResolvedEntity) {
    mistakes.add(
      ModelError(
        .invalidModel, message: "\(entity.name).\(attribute.name): \(message)", at: attribute.location,
        entity: entity.name, property: attribute.name))
  }

  /// The suggestion for a misspelt name, as `; did you mean Person?`; empty without a similar name.
  private func hint(_ name: String, among names: [String]) -> String {
    suggestion(for: name, among: names)
  }

  /// Adds a mistake at a place of an extension's table, given by its keys.
  private func refuse(_ message: String, at path: [String], in declaration: ExtensionDeclaration) {
    mistakes.add(error(message, at: path, in: declaration))
  }

  /// The error of a mistake, with entity and property from the keys.
  private func error(_ message: String, at path: [String], in declaration: ExtensionDeclaration) -> ScriptError {
    ScriptError(
      .invalidExtension, message: message, at: declaration.source.location(of: path),
      entity: ExtensionPlace(keys: path).entity, property: ExtensionPlace(keys: path).property)
  }
}
