public import MoonbaseModel

/// Whose value a rule is asked about, and why.
///
/// ```swift
/// order.validate["state"] = { state, order in
///   try order.oldValue == "closed" && state != "closed" ? .init("cannot be opened again") : nil
/// }
/// ```
public struct RuleSubject {
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

  /// The value that the object had when it was saved or read last: `.null` for a new one, for what no store has, and
  /// where the row holds something that is no value of the attribute.
  ///
  /// Throws what reading it throws, where that is needed.
  public var oldValue: Value {
    get throws {
      if object.isInserted { return .null }
      try object.fireFault()
      if !object.isAdded(slot), object.snapshot?.values[slot].isDamage == true { return .null }
      return try object.committedValue(slot)
    }
  }
}
