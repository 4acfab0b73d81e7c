public import MoonbaseModel

/// Whose value a rule is asked about, and why.
///
/// ```swift
/// order.validate["state"] = { state, order in
///   try order.oldValue == "closed" && state != "closed" ? .init("cannot be opened again") : nil
/// }
/// ```
public struct ValidationContext {
  /// Why a rule is asked.
  public enum Occasion: String, Sendable, Hashable {
    /// A new object is to be saved.
    case insert
    /// A changed object is to be saved.
    case update
    /// A value is proposed for assignment (`validate(_:forKey:)`).
    case assignment
  }

  /// The object.
  public let object: ManagedObject
  /// Why the rule is asked.
  public let occasion: Occasion
  let slot: Slot

  /// The name of the property.
  public var key: String { object.entity.property(at: slot).name }

  /// The objects that a rule over a relationship is asked about: the destination, or those in the list, of the value
  /// that it was given.
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

  /// Whether the rule is over a relationship; nil for one over an attribute.
  package var isToMany: Bool? { object.entity.property(at: slot).relationship?.isToMany }

  /// The value that the object had when it was saved or read last: `.null` for a new one, for what no store has, and
  /// where the row holds something that is no value of the attribute.
  ///
  /// Throws what reading it throws, where that is needed.
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
