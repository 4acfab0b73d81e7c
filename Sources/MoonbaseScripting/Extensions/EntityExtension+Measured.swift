import MoonbaseGraph
import MoonbaseLua

/// Functions of classes run within other functions and are limited, but not listed in the profile.
extension ValueClass {
  /// A copy whose functions are limited by their extension's limits.
  func limited(by meter: RunningExtension?) -> ValueClass {
    var result = self
    result.contains = meter.limited("classes.\(name).is", contains)
    result.text = text.map { meter.limited("classes.\(name).text", $0) }
    result.parse = parse.map { meter.limited("classes.\(name).parse", $0) }
    result.fromTree = fromTree.map { meter.limited("classes.\(name).from_tree", $0) }
    return result
  }
}

extension EntityExtension {
  /// A copy whose functions are measured.
  ///
  /// Each function appears in the profile under its path in the extension's table, as `Person.validate.age`.
  func measured(by meter: RunningExtension, of entity: String) -> EntityExtension {
    let meter: RunningExtension? = meter
    var result = self
    for (key, body) in normalize { result.normalize[key] = meter.measured("\(entity).normalize.\(key)", body) }
    for (key, body) in validate { result.validate[key] = meter.measured("\(entity).validate.\(key)", body) }
    // Calls nested in another function would be charged to that function.
    (result.valueRules, result.quickRules) = ([:], [:])
    for (name, body) in methods { result.methods[name] = meter.measured("\(entity).methods.\(name)", body) }
    for (name, origin) in methodOrigins {
      guard let method = origin as? ScriptMethod else { continue }
      result.methodOrigins[name] = method.measured(by: meter, as: "\(entity).methods.\(name)")
    }
    result.derived = derived.map { Self.measured($0, meter, of: entity) }
    result.stored = stored.map { Self.measured($0, meter, of: entity) }
    result.measureHooks { meter.measured("\(entity).\($0)", $1) }
    result.validateForInsert = validateForInsert.map { meter.measured("\(entity).validate_for_insert", $0) }
    result.validateForUpdate = validateForUpdate.map { meter.measured("\(entity).validate_for_update", $0) }
    result.validateForDelete = validateForDelete.map { meter.measured("\(entity).validate_for_delete", $0) }
    result.awakeFromSnapshotEvents = awakeFromSnapshotEvents.map {
      meter.measured("\(entity).awake_from_snapshot", $0)
    }
    return result
  }

  /// A derived attribute whose functions are measured.
  private static func measured(
    _ derived: DerivedAttribute, _ meter: RunningExtension?, of entity: String
  ) -> DerivedAttribute {
    var result = derived
    // With a shadow attribute, the transformer is measured instead.
    guard derived.shadow == nil else { return result }
    result.get = meter.measured("\(entity).derived.\(derived.name).get", derived.get)
    result.set = derived.set.map { meter.measured("\(entity).derived.\(derived.name).set", $0) }
    return result
  }

  /// Wraps the hooks that have the object as their only argument.
  private mutating func measureHooks(_ measured: (String, @escaping Hook) -> Hook) {
    let hooks: [(WritableKeyPath<EntityExtension, Hook?>, String)] = [
      (\.awakeFromInsert, "awake_from_insert"), (\.awakeFromFetch, "awake_from_fetch"), (\.willSave, "will_save"),
      (\.didSave, "did_save"), (\.prepareForDeletion, "prepare_for_deletion"),
      (\.willTurnIntoFault, "will_turn_into_fault"), (\.didTurnIntoFault, "did_turn_into_fault"),
    ]
    for (path, name) in hooks {
      if let hook = self[keyPath: path] { self[keyPath: path] = measured(name, hook) }
    }
  }
}
