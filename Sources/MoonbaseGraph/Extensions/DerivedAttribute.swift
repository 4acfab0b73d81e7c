public import MoonbaseModel

/// An attribute, mostly transient, whose value comes from other attributes, with Core Data's four ways of keeping it.
///
/// What the getter reads of any object is noted, and the value is computed anew when that changes.
///
/// Source: Core Data Programming Guide, Non-Standard Persistent Attributes.
///
/// ```swift
/// let fullName = DerivedAttribute("fullName", ownInputs: ["first", "last"]) { person in
///   .string("\(try person.value(forKey: "first")) \(try person.value(forKey: "last"))")
/// }
/// ```
public struct DerivedAttribute {
  /// When the value is computed.
  public enum ReadPolicy: Sendable {
    /// At the first access after its object or an input changed.
    case onDemand
    /// At awake-from-fetch, and again on access after an input changed.
    case preCalculated
  }

  /// When an assigned value reaches what it is derived from.
  public enum WritePolicy: Sendable {
    /// At the assignment.
    case immediate
    /// At will-save.
    case delayed
  }

  /// The attribute's name. One that the model lacks is added to it, outside of what rows have.
  public var name: String
  /// The type of the values of an attribute that the model lacks, which predicates and sort descriptors go by; nil where any may be.
  public var type: AttributeType?
  /// Computes the value.
  public var get: (ManagedObject) throws -> Value
  /// Writes an assigned value to what it is derived from; nil makes the attribute read-only.
  public var set: ((Value, ManagedObject) throws -> Void)?
  /// Names of the object's own attributes it is computed from, where these are all; changed objects can then be found by its value.
  public var ownInputs: [String]?
  /// Key paths of everything it is computed from, also over relationships, where they are known beforehand. They say for which
  /// objects that are not here a stored attribute is computed anew when another object changes.
  public var inputs: [String]?
  /// The attribute that a delayed write will overwrite, where there is one: writing it meanwhile is refused.
  public var shadow: String?
  /// Computes the value of the shadow attribute for a value. With it, a delayed value is no change if the shadow keeps
  /// the same for it: two values of a class are seldom one object. `detectsInPlaceMutation` compares both, too.
  public var shadowValue: ((Value, ManagedObject) throws -> Value)?
  /// The class of its values, where a transformer or an extension names one: assigning a value of another class is
  /// refused.
  public var valueClass: ValueClass?
  /// When the value is computed.
  public var readPolicy: ReadPolicy
  /// When an assigned value is written through.
  public var writePolicy: WritePolicy

  /// Makes a derived attribute.
  public init(
    _ name: String, type: AttributeType? = nil, ownInputs: [String]? = nil, inputs: [String]? = nil,
    shadow: String? = nil,
    readPolicy: ReadPolicy = .onDemand,
    writePolicy: WritePolicy = .immediate, get: @escaping (ManagedObject) throws -> Value,
    set: ((Value, ManagedObject) throws -> Void)? = nil
  ) {
    self.name = name
    self.type = type
    self.get = get
    self.set = set
    self.ownInputs = ownInputs
    self.inputs = inputs ?? ownInputs
    self.shadow = shadow
    self.readPolicy = readPolicy
    self.writePolicy = writePolicy
  }
}
