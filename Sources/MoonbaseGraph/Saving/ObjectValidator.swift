import MoonbaseModel

/// Validates one object before a save: normalisation, then the rules of the model, the subclass and the extensions. All
/// failures are collected.
///
/// Made for each object and event. The order for a property: normalize, store the normalized value, check the model's
/// rules, ask extensions. Then the object as a whole is checked. Failures are collected in a `FailureCollector`; only
/// errors that are not failures are thrown.
struct ObjectValidator {
  /// The raw value is a part of the names of hooks, such as `validateForInsert`.
  enum Event: String, CustomStringConvertible {
    /// A new object.
    case insert = "Insert"
    /// A changed object.
    case update = "Update"
    /// A deleted object.
    case delete = "Delete"

    /// For the names of hooks.
    var description: String { rawValue }
  }

  /// The object to validate.
  let object: ManagedObject
  /// The rules and hooks of the entity.
  let behavior: EntityBehavior
  /// Receives failures and warnings.
  private let failures: FailureCollector
  /// The event for property rules.
  private var event = ValidationContext.Event.assignment

  /// Throws for an entity whose behavior cannot be determined.
  init(_ object: ManagedObject, failures: FailureCollector) throws {
    self.object = object
    self.failures = failures
    behavior = try object.behavior()
  }

  /// The entity of the object.
  private var entity: ResolvedEntity { object.entity }

  /// Validates the object. For an object that is already saved, an unset transient value does not count as missing.
  /// Throws errors of the store and of the end of a script's run.
  mutating func validate(for event: Event, isSaved: Bool = false) throws {
    self.event = event == .insert ? .insert : .update
    switch event {
    case .delete: try checkDenyRules()
    case .insert, .update:
      // An update also checks unchanged properties, as documented: another program may have written values that this
      // model refuses.
      let isNew = event == .insert && !isSaved
      for slot in behavior.slotsToValidate where isNew || !isUnreadTransient(slot) { try validate(slot) }
      for slot in behavior.derivedSlotsToValidate { try validateDerived(slot) }
      for slot in behavior.slotsToCount { try checkCount(slot) }
      for slot in behavior.ruledToManySlots { try validateMembers(slot) }
    }
    if behavior.hasObjectRules { try checkAsWhole(event) }
  }

  /// Validates a proposed value of one property without storing it. Also checks the type and the destinations.
  func validate(_ proposed: Value, slot: Slot) throws {
    do {
      let fitting = try object.assignable(proposed, slot: slot, behavior: behavior)
      try checkDestinations(of: fitting, slot: slot)
      let new = try ValueNormalizer(object, behavior).normalized(fitting, slot: slot)
      if !new.isSame(as: fitting) { _ = try object.assignable(new, slot: slot, behavior: behavior) }
      try checkRules(new, slot: slot)
    } catch let error as GraphError where error.code.isMistake {
      try failures.add(error)
    }
  }

  /// Throws for a proposed destination that the relationship cannot have. For example, an object of another entity.
  private func checkDestinations(of proposed: Value, slot: Slot) throws {
    switch behavior.kind(slot) {
    case .toOne:
      if let id = try object.destination(of: proposed, slot: slot) { try object.checkDestination(id, slot: slot) }
    case .toMany:
      for id in try object.destinations(of: proposed, slot: slot) { try object.checkDestination(id, slot: slot) }
    default: break
    }
  }

  // MARK: Single properties

  /// Whether a transient value is unset since the object was read. No store holds transient values, so none is missing.
  private func isUnreadTransient(_ slot: Slot) -> Bool {
    guard entity.property(at: slot).isTransient, case .plain = behavior.kind(slot) else { return false }
    return (object.current(slot) ?? .null).isNull && !object.changed.contains(slot)
  }

  /// Normalizes and validates one property of the object. A property with a fast rule is decided without making a
  /// value.
  private func validate(_ slot: Slot) throws {
    if let rule = behavior.onlyRule(slot), try object.fulfills(rule, slot: slot) { return }
    if behavior.requiredSlots.contains(slot), object.delayed[slot] == nil, try object.hasStoredValue(slot) { return }
    // A derived value that was not assigned counts as unchanged (see `validateDerived`).
    if case .derived = behavior.kind(slot), object.delayed[slot] == nil { return }
    let old: Value
    do {
      old = try object.value(at: slot)
    } catch {
      guard object.isDamaged(slot) else { throw error }
      // The save leaves a damaged value as it is in the file.
      return
    }
    var normalized: Value?
    try collect(slot) { normalized = try ValueNormalizer(object, behavior).normalized(old, slot: slot) }
    guard let new = normalized else { return }
    if !new.isSame(as: old) {
      do {
        try storeQuietly(new, slot: slot)
      } catch let error as GraphError where !error.code.endsRun {
        return try failures.add(error)
      }
    }
    try checkRules(new, slot: slot)
  }

  /// Stores a normalized value without triggering another validation of the object. The journal keeps the change for
  /// undoing.
  private func storeQuietly(_ value: Value, slot: Slot) throws {
    let count = object.context?.journal.count ?? 0
    try ValueNormalizer(object, behavior).assign(value, slot: slot)
    object.context?.journal.silence(object, after: count)
  }

  /// Validates a derived value that was not assigned; it may depend on any changed input. Assigned values are validated
  /// like others.
  private func validateDerived(_ slot: Slot) throws {
    guard object.delayed[slot] == nil else { return }
    try checkRules(object.value(at: slot), slot: slot)
  }

  /// Checks a value against the rules of the model and the extensions. A missing value is checked here only.
  private func checkRules(_ value: Value, slot: Slot) throws {
    let property = entity.property(at: slot)
    if value.isNull {
      // `willSave` computes stored derived attributes and checks that the value is present.
      if !property.isOptional, !behavior.storedSlots.contains(slot) {
        try fail(.missingMandatoryProperty, slot: slot, value: value, message: missingMessage(property))
      }
      return
    }
    for failure in try property.validate(value) {
      try fail(failure.code, slot: slot, value: value, message: failure.message)
    }
    try askRules(value, slot: slot)
  }

  /// Runs the rules of extensions for a value. Rules run in the order of the extensions. A rule may blame another
  /// property.
  private func askRules(_ value: Value, slot: Slot) throws {
    guard let rules = behavior.rules[slot] else { return }
    let subject = ValidationContext(object: object, event: event, slot: slot)
    for rule in rules {
      try collectMistakes {
        // Making the message is part of running the rule, so its errors are handled in the same way.
        let found = try asking("\(entity.name).\(entity.property(at: slot).name)", "validate") {
          try object.blaming(slot, hook: "validate") {
            try rule(value, subject).map { try ($0, message(of: $0, value: value, subject: subject)) }
          }
        }
        guard let (failure, message) = found else { return }
        let blamed = failure.key.flatMap(entity.slot) ?? slot
        try tell(failure, slot: blamed, value: blamed == slot ? value : blamedValue(blamed), message: message)
      }
    }
  }

  /// Runs a rule, during which changes are refused. `hook` is the name in messages.
  private func asking<Result>(
    _ subject: @autoclosure () -> String, _ hook: String, _ rule: () throws -> Result
  ) throws -> Result {
    guard let context = object.context else { return try rule() }
    return try context.runningRule("\(subject()): \(context.extensionRegistry.hookName(hook))", rule)
  }

  /// The value of a property that a rule of another property blames. Null for a to-many relationship.
  private func blamedValue(_ slot: Slot) -> Value {
    if case .toMany = behavior.kind(slot) { return .null }
    return (try? object.value(at: slot)) ?? .null
  }

  /// Collects the error of a failing rule like other failures, so that the remaining rules still run. Errors of the
  /// store and of the end of a run are thrown.
  private func collectMistakes(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as GraphError where !error.code.endsRun && !error.code.isOfStore {
      try failures.add(error)
    }
  }

  /// Runs the rules of a to-many relationship if its destinations changed, and for each new object. Rules get the list
  /// of IDs.
  private func validateMembers(_ slot: Slot) throws {
    guard object.isInserted || object.relationships[slot]?.hasChanges == true else { return }
    try askRules(.list(object.memberIDs(slot).map(Value.objectID)), slot: slot)
  }

  /// The message of a rule, with values inserted for names in braces. For example "must be less than {value}". Names
  /// are `value`, `old`, `key`, `entity` and properties.
  private func message(
    of failure: EntityExtension.ValidationIssue, value: Value, subject: ValidationContext?
  ) throws -> String {
    guard !failure.code.endsRun else {
      throw EntityExtension.RuleMistake(
        "the rule's code \(failure.code.rawValue) says that a run is over: give it another")
    }
    let old = try failure.message.contains("{old}") ? subject?.oldValue : nil
    return try failure.filledMessage { name in
      switch name {
      case "value" where subject != nil: value
      case "old": old
      case "key": (failure.key ?? subject?.key).map(Value.string)
      case "entity": .string(entity.name)
      default: nil
      }
    }
  }

  /// Collects an issue as failure or warning. A warning does not fail the save. The severity decides.
  private func tell(
    _ failure: EntityExtension.ValidationIssue, slot: Slot?, value: Value, message: String
  ) throws {
    let error = error(failure.code, slot: slot, value: value, message: message)
    if failure.severity == .warning { try failures.warn(error) } else { try failures.add(error) }
  }

  /// The advice depends on the way in which the value may be set.
  private func missingMessage(_ property: ResolvedProperty) -> String {
    let advice = "save with saveOrder .willSaveFirst (--save-order framework), or make it optional"
    if behavior.delayedShadows[property.slot] != nil {
      return "is required and missing; its delayed value comes only at will-save: \(advice)"
    }
    guard isAwaitingWillSave(property), let hook = object.context?.extensionRegistry.hookName("willSave") else {
      return "is required and missing"
    }
    return "is required and missing; if \(hook) sets it, that comes only after validation: \(advice)"
  }

  /// Whether a transient attribute changed that `willSave` may use to set a persistent one. Only with the order in
  /// which validation comes first.
  private func isAwaitingWillSave(_ property: ResolvedProperty) -> Bool {
    guard behavior.hasWillSave, property.attribute != nil, !property.isTransient,
      object.context?.saveOrder == .validateFirst
    else { return false }
    return entity.attributeSlots.contains { slot in
      guard entity.properties[slot].isTransient, case .plain = behavior.kind(slot) else { return false }
      return object.changed.contains(slot)
    }
  }

  // MARK: Relationships

  /// Checks the number of destinations of a to-many relationship. Minimum and maximum come from the model.
  private func checkCount(_ slot: Slot) throws {
    guard let relationship = entity.properties[slot].relationship?.description else { return }
    let isNew = object.isInserted
    // An unread relationship is as it was saved: counting it would read it with each update.
    guard isNew || object.relationships[slot].map({ $0.hasChanges || $0.isLoaded }) == true else { return }
    let count = try object.memberCount(slot)
    // An optional relationship may be empty; otherwise the minimum applies.
    if count == 0, !relationship.requiresDestination { return }
    if count < relationship.minCount {
      try fail(
        .relationshipLacksMinimumCount, slot: slot, value: .null,
        message: "has \(count) destination\(count == 1 ? "" : "s") and needs at least \(relationship.minCount)")
    }
    if relationship.maxCount > 0, count > relationship.maxCount {
      try fail(
        .relationshipExceedsMaximumCount, slot: slot, value: .null,
        message: "has \(count) destinations and may have at most \(relationship.maxCount)")
    }
  }

  /// Adds a failure for each relationship with a deny rule and remaining destinations. The message has the number of
  /// destinations.
  private func checkDenyRules() throws {
    for slot in behavior.denyingSlots {
      let count = try object.remainingDestinations(slot).count
      guard count > 0 else { continue }
      try fail(
        .relationshipDeniedDelete, slot: slot, value: .null,
        message:
          "has \(count) destination\(count == 1 ? "" : "s") left and its delete rule deny refuses the deletion: delete or "
          + "move \(count == 1 ? "it" : "them") first")
    }
  }

  // MARK: The object as a whole

  /// Runs the validation of the subclass and the extensions for the object as a whole. First the method of the
  /// subclass, then the extensions in order.
  private func checkAsWhole(_ event: Event) throws {
    let (hook, method) = method(of: event)
    if behavior.hooks.contains(hook) {
      let check = method(object)
      try collect {
        try asking(entity.name, "validateFor\(event)") { try object.running("validateFor\(event)", check) }
      }
    }
    for entry in behavior.extensions {
      let hook =
        switch event {
        case .insert: entry.validateForInsert
        case .update: entry.validateForUpdate
        case .delete: entry.validateForDelete
        }
      guard let hook else { continue }
      try collectMistakes {
        let found = try asking(entity.name, "validateFor\(event)") {
          try object.running("validateFor\(event)") {
            try hook(object).map { try ($0, message(of: $0, value: .null, subject: nil)) }
          }
        }
        guard let (failure, message) = found else { return }
        let blamed = failure.key.flatMap(entity.slot)
        try tell(failure, slot: blamed, value: blamed.map(blamedValue) ?? .null, message: message)
      }
    }
  }

  /// The hook and the method of an event.
  private func method(of event: Event) -> (LifecycleHooks, (ManagedObject) -> () throws -> Void) {
    switch event {
    case .insert: (.validateForInsert, { object in object.validateForInsert })
    case .update: (.validateForUpdate, { object in object.validateForUpdate })
    case .delete: (.validateForDelete, { object in object.validateForDelete })
    }
  }

  /// Collects the error that a subclass's method throws, with entity, property and object ID added if they are missing.
  /// An error with details counts as its details.
  private func collect(_ slot: Slot? = nil, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as GraphError where !error.code.endsRun {
      for var failure in error.details.isEmpty ? [error] : error.details {
        if failure.entity == nil { failure.entity = entity.name }
        if failure.property == nil, let slot { failure.property = entity.property(at: slot).name }
        if failure.objectID == nil { failure.objectID = object.objectID }
        // The message of a validation method is written for users, as the message of a rule.
        if failure.reason == nil, failure.code.isValidation { failure.reason = failure.message }
        try failures.add(failure)
      }
    }
  }

  /// Collects a failure.
  private func fail(_ code: GraphError.Code, slot: Slot, value: Value, message: String) throws {
    try failures.add(error(code, slot: slot, value: value, message: message))
  }

  /// Makes an error whose `reason` is the message without the subject.
  private func error(_ code: GraphError.Code, slot: Slot?, value: Value, message: String) -> GraphError {
    let name = slot.map { entity.property(at: $0).name }
    let subject = name.map { "\(entity.name).\($0)" } ?? entity.name
    let beginning = value.beginning.map { $0.isEmpty ? "\"\"" : $0 }
    let shown = value.isNull ? "" : " (\(beginning ?? value.typeDescription))"
    var error = GraphError(
      code, message: "\(subject)\(shown) \(message)", entity: entity.name, property: name, objectID: object.objectID,
      value: value)
    error.reason = message
    return error
  }
}
