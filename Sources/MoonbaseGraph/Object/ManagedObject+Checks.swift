import MoonbaseModel
import MoonbasePlatform

extension ManagedObject {
  /// The combined hooks, rules and slot kinds of the object's entity. Throws if the object has no context. Behaviors
  /// are kept by the context until extensions change, so the call is cheap.
  final func behavior() throws -> EntityBehavior {
    guard let context else { throw detachedError }
    context.checkConfinement(of: self)
    return try context.behavior(of: entity)
  }

  /// Whether reads and checked assignments of a slot may use the stored value directly.
  ///
  /// True only if neither accessors, transformers nor derivations concern the slot, and the context knows this. The
  /// test is one bit, because every typed access makes it.
  @inline(__always)
  final func isSimple(_ slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      // Without a context no slot is simple.
      guard slot < 64, table.simpleSlots & (1 << UInt64(slot)) != 0, let context = table.contextReference else {
        return false
      }
      return context._withUnsafeGuaranteedRef { $0.knowsSimpleSlots }
    }
  }

  /// The value converted to its attribute's type. Throws an error that names the attribute.
  ///
  /// The usual pairs of type and value take a short path without the description of the attribute. The code of the
  /// error is `.invalidValue`.
  final func checked(_ value: Value, slot: Slot) throws -> Value {
    let type = table._withUnsafeGuaranteedRef { table in
      slot < table.properties.count
        ? table.properties[slot].attributeType : table.entity.property(at: slot).attributeType
    }
    switch (type, value) {
    case (nil, _), (_, .null), (.string, .string), (.integer64, .int), (.boolean, .bool),
      (.binaryData, .data), (.uuid, .uuid), (.uri, .uri):
      return value
    case (.date, .date(let date)) where !date.timeIntervalSinceReferenceDate.isNaN: return value
    case (.double, .double(let number)) where !number.isNaN: return value
    default: break
    }
    guard let attribute = entity.property(at: slot).attribute else { return value }
    do {
      return try attribute.checked(value)
    } catch {
      throw refused(slot, value: value, reason: error.message)
    }
  }

  /// Throws if the object is deleted. A deleted object may still be changed while it awakes. The error is
  /// `.invalidObject`.
  final func checkMutable() throws {
    guard !isDeleted || state.contains(.awaking) else { throw invalid("is deleted and cannot be changed") }
  }

  /// Throws for an attribute that the store derives.
  ///
  /// Concerns attributes with a derivation expression in the model. The error is `.invalidValue`.
  final func checkAssignable(_ slot: Slot, value: Value) throws {
    let property = entity.property(at: slot)
    guard property.isDerived, let derivation = property.attribute?.derivationExpression else { return }
    throw refused(slot, value: value, reason: "is derived from \(derivation) by the store and cannot be assigned")
  }

  /// The value itself if it is of the attribute's class, else the value that the class makes from a text, a list or a
  /// map.
  ///
  /// Throws if the class neither contains the value nor can convert it.
  ///
  /// The error is `.invalidValue` and names the class. Errors of the class's functions name the extension.
  final func valueOfClass(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Value {
    guard !value.isNull, let valueClass = behavior.valueClasses[slot] else { return value }
    func belongs(_ value: Value) throws -> Bool {
      try blaming(slot, hook: "is") { try valueClass.contains(value) }
    }
    if try belongs(value) { return value }
    guard let (name, made) = try made(of: value, by: valueClass, slot: slot) else {
      throw refused(
        slot, value: value,
        reason:
          "its values are of class \(valueClass.name), not \(value.typeDescription)\(valueClass.advice(for: value))")
    }
    if try belongs(made) { return made }
    throw refused(
      slot, value: value,
      reason: "\(name) of class \(valueClass.name) gave \(made.typePhrase), and no value of the class")
  }

  /// Converts a value by the class's function for its kind; nil if the class lacks such a function.
  private func made(
    of value: Value, by valueClass: ValueClass, slot: Slot
      /// A text goes to `parse`, a list or map to `from_tree`. An `.invalidValue` error of the function refuses the value.
  ) throws -> (function: String, value: Value)? {
    let (name, make): (String, () throws -> Value)
    switch value {
    case .string(let text):
      guard let parse = valueClass.parse else { return nil }
      (name, make) = ("parse", { try parse(text) })
    case .list, .map:
      guard let fromTree = valueClass.fromTree else { return nil }
      (name, make) = ("from_tree", { try fromTree(value) })
    default: return nil
    }
    return try blaming(slot, hook: name) {
      do { return (name, try make()) } catch let error as any CodedError where error.code == .invalidValue {
        // The value is wrong, and not the class.
        throw refused(slot, value: value, reason: "\(error)")
      }
    }
  }

  /// The error for using an object that has left its context. The code is `.invalidObject`; the message names the cause
  /// and the remedy.
  package final var detachedError: GraphError {
    switch departure {
    case .contextGone: invalid("was used after its context was gone: keep the context as long as its objects")
    case .closed: invalid("was used after its context was closed: take it from a context that is open")
    case .reset: invalid("was used after its context was reset: fetch it again")
    case .deleted where objectID.isTemporaryID: invalid("was used after it was deleted; it was never saved")
    case .deleted: invalid("was used after its deletion was saved")
    case .rolledBack: invalid("was used after its insertion was rolled back")
    case .replaced: invalid("was made for an ID before that had a row: fetch it again")
    }
  }

  /// Runs an accessor that cannot throw: the context keeps its error, and the next save throws it. Without a context
  /// the error is dropped.
  final func keepingErrors<Result>(or fallback: Result, _ body: () throws -> Result) -> Result {
    do {
      return try body()
    } catch {
      context?.keep(error)
      return fallback
    }
  }

  /// The error for a value that a property cannot take.
  final func refused(
    _ slot: Slot, value: Value?, reason: String, as code: GraphError.Code = .invalidValue
      /// `reason` is a clause without a subject, for example "it is no to-one relationship".
  ) -> GraphError {
    let name = entity.property(at: slot).name
    var error = GraphError(
      code, message: "\(entity.name).\(name): \(reason)", entity: entity.name, property: name, objectID: objectID,
      value: value)
    error.reason = reason
    return error
  }

  /// The error for an object that cannot be used in some way. `reason` is a predicate after the object's name, for
  /// example "was used after its deletion was saved".
  package final func invalid(_ reason: String) -> GraphError {
    GraphError(.invalidObject, message: "\(entity.name) \(objectID) \(reason)", entity: entity.name, objectID: objectID)
  }

  /// The slot of a to-one relationship. Throws for any other property. The error is `.unknownName` for an unknown key.
  final func toOneSlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toOne = entity.properties[slot].kind else {
      throw refused(slot, value: nil, reason: "it is no to-one relationship")
    }
    return slot
  }

  /// The slot of a to-many relationship. Throws for any other property. The error is `.unknownName` for an unknown key.
  final func toManySlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toMany = entity.properties[slot].kind else {
      throw refused(slot, value: nil, reason: "it is no to-many relationship")
    }
    return slot
  }
}
