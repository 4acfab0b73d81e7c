public import MoonbaseModel

/// The subject of a rule: the object, the property and the reason of the check.
///
/// ```swift
/// order.validate["state"] = { state, order in
///   try order.oldValue == "closed" && state != "closed" ? .init("cannot be opened again") : nil
/// }
/// ```
public struct ValidationContext {
  /// Why a rule is evaluated.
  public enum Event: String, Sendable, Hashable {
    /// A new object is about to be saved.
    case insert
    /// A changed object is about to be saved.
    case update
    /// A value is proposed for assignment (`validate(_:forKey:)`).
    case assignment
  }

  /// The object.
  public let object: ManagedObject
  /// Why the rule is evaluated.
  public let event: Event
  let slot: Slot

  /// The name of the property.
  public var key: String { object.entity.property(at: slot).name }

  /// The objects in the value of a rule over a relationship: its destination, or its list of destinations.
  ///
  /// ```swift
  /// team.validate["lead"] = { value, team in
  ///   try team.destinations(of: value).allSatisfy { $0["isActive"] == true } ? nil : .init("has left")
  /// }
  /// ```
  public func destinations(of value: Value) throws -> [ManagedObject] {
    guard let context = object.managedObjectContext else { return [] }
    let ids: [Value] = if case .list(let list) = value { list } else { [value] }
    return try ids.compactMap { id in
      if case .objectID(let id) = id { try context.object(with: id) } else { nil }
    }
  }

  /// Whether the relationship is to-many; nil for a rule over an attribute.
  package var isToMany: Bool? { object.entity.property(at: slot).relationship?.isToMany }

  /// The value that the object had when it was last saved or read.
  ///
  /// It is `.null` for a new object, a property that no store keeps, and a damaged value in the row. Throws the errors
  /// of reading, where the value has to be read.
  public var oldValue: Value {
    get throws {
      if object.isInserted { return .null }
      try object.fireFault()
      if isToMany == true { return try .list(object.committedDestinations(slot).map(Value.objectID)) }
      if !object.isAdded(slot), object.snapshot?.values[slot].isDamage == true { return .null }
      return try object.committedValue(slot)
    }
  }
}
