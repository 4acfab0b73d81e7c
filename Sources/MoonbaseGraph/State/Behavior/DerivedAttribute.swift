public import MoonbaseModel

/// An attribute, mostly transient, whose value comes from other attributes, with Core Data's four ways of keeping it.
///
/// The context records which values the getter reads, of any object, and computes the value again after one of them
/// changes.
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
    /// At the first access after the object or an input changed.
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

  /// The attribute's name. If the model lacks the attribute, it is added to the context's model, without a column in
  /// rows.
  public var name: String
  /// The type of the values of an added attribute, which predicates and sort descriptors check; nil for any type.
  public var type: AttributeType?
  /// Computes the value.
  public var get: (ManagedObject) throws -> Value
  /// Writes an assigned value to what it is derived from; nil makes the attribute read-only.
  public var set: ((Value, ManagedObject) throws -> Void)?
  /// The names of the object's own attributes that the getter reads; nil where unknown.
  ///
  /// With this list, a changed object is found by its derived value.
  public var ownInputs: [String]?
  /// The key paths of all values that the getter reads, also over relationships; nil where unknown.
  ///
  /// By these paths a save finds objects that are not in memory and whose stored attribute has to be computed again.
  public var inputs: [String]?
  /// The attribute that a delayed write overwrites; assignments to it are refused while the write is pending.
  public var shadow: String?
  /// Computes the value of the shadow attribute for a value.
  ///
  /// With this function, two delayed values are equal if their shadow values are, since two values of a class are
  /// seldom the same object. `detectsInPlaceMutation` compares shadow values, too.
  public var shadowValue: ((Value, ManagedObject) throws -> Value)?
  /// The class of the values, where a transformer or an extension names a class; a value of another class is refused.
  public var valueClass: ValueClass?
  /// When the value is computed.
  public var readPolicy: ReadPolicy
  /// When an assigned value is written to the attributes it is derived from.
  public var writePolicy: WritePolicy

  /// Makes a derived attribute; without `inputs`, the `ownInputs` are used for both.
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
