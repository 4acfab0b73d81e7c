import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Makes the graph's hooks from functions of extensions.
///
/// A builder is made for each context and generation, and ends when the registry is complete. The closures that it
/// makes capture `types` and look up the domain at each call, so that they throw `.invalidRequest` after the domain's
/// end instead of using a closed state.
struct DomainBuilder {
  /// A reference to the domain for hooks. Hooks belong to a context that scripts may hold and that may outlive the
  /// domain.
  let types: HostTypes
  /// The model with added attributes.
  let model: ResolvedModel
  /// Records the cost of the functions.
  let profile: ExtensionProfile?
  /// The limits of the extensions.
  let standings: ExtensionStandings
  /// The language of rule messages; nil for the host's language.
  let language: String?

  /// Measures and limits the functions of an extension; nil if nothing is measured. Named by the file of the
  /// declaration.
  func meter(of declaration: ExtensionDeclaration) -> RunningExtension? {
    RunningExtension(
      declaration.source.name, profile: profile, standing: standings[declaration.source], in: types.state)
  }

  /// Adds the declarations of scripts to a registry with the contents of Swift code. The Lua state is not changed, so
  /// declarations that fail leave no trace there.
  ///
  /// Classes and transformers come first, because derived attributes with shadows look them up. Returns `domain`, which
  /// then contains the closures in the order of the declarations.
  func build(_ declarations: [ExtensionDeclaration], beside domain: ExtensionRegistry) throws -> ExtensionRegistry {
    for declaration in declarations {
      for (name, value) in declaration.classes {
        domain.valueClasses[name] = try valueClass(name, methods: value).limited(by: meter(of: declaration))
      }
      let meter = meter(of: declaration)
      for transformer in declaration.transformers {
        domain.transformers[transformer.name] = make(transformer, meter: meter)
      }
      domain.attributeValueClasses.merge(declaration.valueClasses) { $0.merging($1) { _, later in later } }
    }
    for declaration in declarations {
      for entity in declaration.entities {
        let translations = declaration.translations(to: language)
        let made = try make(entity, in: domain, translations: translations)
        let measured = meter(of: declaration).map { made.measured(by: $0, of: entity.name) } ?? made
        domain.extensions[entity.name, default: []].append(measured)
        try addPathRules(of: entity, to: domain, meter: meter(of: declaration), translations: translations)
      }
    }
    return domain
  }

  // MARK: Values

  /// A class of values from its table of methods: `is`, `text`, `parse` and `from_tree`, each optional.
  private func valueClass(_ name: String, methods table: LuaTable) throws -> ValueClass {
    var result = try valueClass(name, testedBy: table)
    // A class of a module is a proxy without fields of its own.
    let table = try table.behindProxy
    if case .function(let text) = try table.get("text") {
      result.text = { [types] value in
        let results = try text.call([try types.openDomain().luaValue(from: value)])
        guard let given = results.first?.textValue else {
          throw text.mistake("text of class \(name) gives a text, not \((results.first ?? .nil).typePhrase)")
        }
        return given
      }
    }
    if case .function = try table.get("parse") {
      result.parse = { [types] text in try types.openDomain().value(text, ofClass: name) ?? .null }
    }
    if case .function = try table.get("from_tree") {
      result.fromTree = { [types] tree in try types.openDomain().value(tree, ofClass: name) ?? .null }
    }
    return result
  }

  /// The class with its test for membership: the function `is`, else the class name of the opaque value.
  private func valueClass(_ name: String, testedBy table: LuaTable) throws -> ValueClass {
    guard case .function(let test) = try table.get("is") else {
      return ValueClass(name) { value in
        if case .object(let object) = value { object.className == name } else { false }
      }
    }
    let call = LuaFastCall(test, parameters: 1)
    return ValueClass(name) { [types] value in
      let scripts = try types.openDomain()
      return try call.run {
        try scripts.setArgument(0, of: $0, to: value)
      } reading: {
        if let answer = $0.boolean { return answer }
        if $0.isNil, !$0.isMissing { return false }
        throw test.noAnswer(ofClass: name, given: $0.isMissing ? "nothing" : try $0.value.typePhrase)
      }
    }
  }

  /// Throws the reason that a function returned after nil. In Lua a function fails by returning `nil, reason`. Throws
  /// `.invalidValue` with place and reason.
  private static func requireNoReason(
    _ result: borrowing LuaResult, _ function: LuaFunction, _ subject: @autoclosure () -> String
  ) throws {
    guard result.isNil, let reason = try result.further(1).reason else { return }
    let place = function.place.map { "\($0): " } ?? ""
    throw ScriptError(.invalidValue, message: "\(place)\(subject()) gave nothing: \(reason)")
  }

  /// A transformer from two functions. Results of `transform` are bytes where possible, without validation as text.
  private func make(_ transformer: ExtensionDeclaration.Transformer, meter: RunningExtension?) -> ValueTransformer {
    let forward = LuaFastCall(transformer.transform, parameters: 1)
    let backward = transformer.reverse.map { ($0, LuaFastCall($0, parameters: 1)) }
    var made = ValueTransformer(
      transformer.name, valueClassName: transformer.className,
      transformedValue: { [types] value in
        let scripts = try types.openDomain()
        return try forward.run {
          try scripts.setArgument(0, of: $0, to: value)
        } reading: { result in
          try Self.requireNoReason(result, transformer.transform, "transform of transformer \(transformer.name)")
          return try result.withBytes { .data(Data($0)) }
            ?? transformer.transform.checking("the result of transformer \(transformer.name)") {
              try scripts.graphValue(from: result)
            }
        }
      },
      reverseTransformedValue: backward.map { function, call in
        { [types] bytes in
          let scripts = try types.openDomain()
          return try call.run {
            try scripts.setArgument(0, of: $0, to: bytes)
          } reading: { result in
            try Self.requireNoReason(result, function, "reverse of transformer \(transformer.name)")
            return try function.checking("the result of transformer \(transformer.name)") {
              try scripts.graphValue(from: result)
            }
          }
        }
      })
    let name = "transformers.\(transformer.name)"
    made.transformedValue = meter.measured("\(name).transform", made.transformedValue)
    made.reverseTransformedValue = made.reverseTransformedValue.map { meter.measured("\(name).reverse", $0) }
    made.places[.transform] = transformer.transform.place
    made.places[.reverse] = transformer.reverse?.place
    return made
  }

  // MARK: Entities

  /// The hooks, rules, methods and derived attributes of an entity. Rules over paths are added elsewhere
  /// (`addPathRules`).
  private func make(
    _ entry: ExtensionDeclaration.Entity, in domain: ExtensionRegistry, translations: [String: String]
  ) throws -> EntityExtension {
    var result = EntityExtension()
    for (key, function) in entry.normalize {
      result.normalize[key] = normalizer(function, entity: entry.name, key: key)
    }
    for (key, function) in entry.validate where !key.contains(".") {
      let name = "\(entry.name).\(key)"
      result.validate[key] = rule(function, of: name, translations)
      let isOverAttribute = model.entity(entry.name)?.property(key)?.attribute != nil
      if isOverAttribute, function.parameterCount <= 1 { result.valueRules[key] = valueRule(function, of: name) }
      if isOverAttribute, function.parameterCount <= 2 { result.quickRules[key] = quickRule(function) }
    }
    for (name, function) in entry.methods {
      result.methods[name] = method(function)
      result.methodOrigins[name] = ScriptMethod(function)
    }
    for derived in entry.derived {
      let attribute = try make(derived, of: entry.name, in: domain)
      if derived.isStored { result.stored.append(attribute) } else { result.derived.append(attribute) }
    }
    setHooks(of: entry, into: &result, translations)
    return result
  }

  /// A closure that calls `normalize(value, object)` and converts the result to the attribute's type. Throws
  /// `.invalidRequest`, with the function's place, if the function returns nothing.
  private func normalizer(_ function: LuaFunction, entity: String, key: String) -> (Value, ManagedObject) throws ->
    Value
  {
    let call = LuaFastCall(function, parameters: 2)
    let attribute = model.entity(entity)?.property(key)?.attribute
    return { [types] value, object in
      let scripts = try types.openDomain()
      let handle = try scripts.types.type(of: object.entity)
      let new = try call.run {
        try scripts.setArgument(0, of: $0, to: value)
        try $0.set(1, object: object, as: handle)
      } reading: { result in
        guard !result.isMissing else {
          throw function.mistake("returned nothing: return the value, or nil for no value")
        }
        return try function.checking { try scripts.graphValue(from: result, for: attribute?.type) }
      }
      return try function.checking { try attribute?.checked(new) ?? new }
    }
  }

  /// A closure that calls `rule(value, object, old, event)`, with as many arguments as the function declares.
  private func rule(
    _ function: LuaFunction, of name: String, _ translations: [String: String]
  ) -> EntityExtension.Rule {
    // Arguments that the function does not declare are not looked up.
    let count = min(function.parameterCount, 4)
    let call = LuaFastCall(function, parameters: count)
    return { [types] value, subject in
      let scripts = try types.openDomain()
      let object = subject.object
      let old = try count > 2 ? subject.oldValue : .null
      return try call.run {
        if count > 0 { try Self.set(0, of: $0, to: value, of: name, subject, scripts) }
        if count > 1 { try $0.set(1, object: object, as: scripts.types.type(of: object.entity)) }
        if count > 2 { try Self.set(2, of: $0, to: old, of: name, subject, scripts) }
        if count > 3 { try scripts.setArgument(3, of: $0, to: .string(subject.event.rawValue)) }
      } reading: {
        try RuleOutcome(function, entity: object.entity, translations: translations).failure($0, in: scripts)
      }
    }
  }

  /// A rule over a relationship receives the object or a list of objects. Passes a value, an object or a list of
  /// objects as an argument of a rule.
  private static func set(
    _ index: Int, of arguments: borrowing LuaArguments, to value: Value, of name: String, _ subject: ValidationContext,
    _ scripts: ScriptDomain
  ) throws {
    guard let isToMany = subject.isToMany, !value.isNull else {
      return try scripts.setArgument(index, of: arguments, to: value, ofAttribute: name)
    }
    let objects = try subject.destinations(of: value)
    if isToMany { return try arguments.set(index, to: .table(scripts.state.list(objects.map(scripts.handle)))) }
    guard let object = objects.first else { return arguments.setNil(index) }
    try arguments.set(index, object: object, as: scripts.types.type(of: object.entity))
  }

  /// A rule with no parameter but the value cannot read the rest of the object.
  ///
  /// The graph evaluates such a rule over many rows, without objects, before it runs `validate`. True means valid; any
  /// other result makes the graph call the full rule.
  private func valueRule(_ function: LuaFunction, of name: String) -> EntityExtension.ValueRule {
    let count = function.parameterCount
    let call = LuaFastCall(function, parameters: count)
    return EntityExtension.ValueRule(origin: ScriptRule(function)) { [types] value in
      try call.run {
        if count > 0, !$0.set(0, plain: value) {
          try types.openDomain().setArgument(0, of: $0, to: value.asValue, ofAttribute: name)
        }
      } reading: {
        $0.boolean == true
      }
    }
  }

  /// A rule over a cell, with the object if the function declares it. True means valid; any other result makes the
  /// graph call the full rule, which has the message.
  private func quickRule(_ function: LuaFunction) -> EntityExtension.QuickRule {
    let count = function.parameterCount
    let call = LuaFastCall(function, parameters: count)
    return EntityExtension.QuickRule { [types] cell, object in
      try call.run {
        if count > 0 { try $0.set(0, to: cell, types) }
        if count > 1 { try $0.set(1, object: object, as: types.type(of: object.entity)) }
      } reading: {
        $0.boolean == true
      }
    }
  }

  /// A closure for `validate_for_insert` and its like; nil without a function.
  private func objectRule(_ function: LuaFunction?, _ translations: [String: String]) -> (
    (ManagedObject) throws -> EntityExtension.ValidationIssue?
  )? {
    function.map { function in
      let call = LuaFastCall(function, parameters: 1)
      return { [types] object in
        let scripts = try types.openDomain()
        let handle = try scripts.types.type(of: object.entity)
        return try call.run {
          try $0.set(0, object: object, as: handle)
        } reading: {
          try RuleOutcome(function, entity: object.entity, translations: translations).failure($0, in: scripts)
        }
      }
    }
  }

  /// A closure for a hook with the object as its only argument; nil without a function.
  private func hook(_ function: LuaFunction?) -> EntityExtension.Hook? {
    function.map { function in
      let call = LuaFastCall(function, parameters: 1)
      return { [types] object in
        let scripts = try types.openDomain()
        let handle = try scripts.types.type(of: object.entity)
        try call.run {
          try $0.set(0, object: object, as: handle)
        } reading: { _ in
        }
      }
    }
  }

  /// A hook whose second argument has the names of the events as keys. For example `{ undo_insertion = true }`.
  private func snapshotHook(_ function: LuaFunction?) -> ((ManagedObject, SnapshotEventType) throws -> Void)? {
    function.map { function in
      let call = LuaFastCall(function, parameters: 2)
      return { [types] object, events in
        let scripts = try types.openDomain()
        let handle = try scripts.types.type(of: object.entity)
        let names = Value.map(Dictionary(uniqueKeysWithValues: events.scriptNames.map { ($0, true) }))
        try call.run {
          try $0.set(0, object: object, as: handle)
          try scripts.setArgument(1, of: $0, to: names)
        } reading: { _ in
        }
      }
    }
  }

  /// Sets all hooks of an entity, by the names of scripts.
  private func setHooks(
    of entry: ExtensionDeclaration.Entity, into result: inout EntityExtension, _ translations: [String: String]
  ) {
    let hooks = entry.hooks
    result.validateForInsert = objectRule(hooks["validate_for_insert"], translations)
    result.validateForUpdate = objectRule(hooks["validate_for_update"], translations)
    result.validateForDelete = objectRule(hooks["validate_for_delete"], translations)
    result.awakeFromInsert = hook(hooks["awake_from_insert"])
    result.awakeFromFetch = hook(hooks["awake_from_fetch"])
    result.awakeFromSnapshotEvents = snapshotHook(hooks["awake_from_snapshot"])
    result.willSave = hook(hooks["will_save"])
    result.didSave = hook(hooks["did_save"])
    result.prepareForDeletion = hook(hooks["prepare_for_deletion"])
    result.willTurnIntoFault = hook(hooks["will_turn_into_fault"])
    result.didTurnIntoFault = hook(hooks["did_turn_into_fault"])
  }
}
