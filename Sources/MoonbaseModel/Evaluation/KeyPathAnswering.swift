/// A subject that predicates and sort keys can be evaluated on, because it answers keys.
///
/// `Value` conforms: a map answers with its entries. Managed objects conform too.
///
/// ```swift
/// struct Point: KeyPathAnswering {
///   var x: Double
///
///   func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Point> {
///     .value(key == "x" ? .double(x) : .null)
///   }
///   var predicateValue: Value { .null }
/// }
/// ```
public protocol KeyPathAnswering {
  /// The type of the objects behind keys; in most cases the type itself.
  associatedtype Related: KeyPathAnswering = Self where Related.Related == Related

  /// The value of SELF in a comparison: the ID of an object, or the value itself.
  var predicateValue: Value { get }

  /// The answer for a key. Throws if the key is unknown or cannot be read.
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Related>
}

/// The answer of a subject for a key.
public enum PredicateAnswer<Subject> {
  /// A value.
  case value(Value)
  /// An object, or nil.
  case object(Subject?)
  /// Several objects, in order if they have an order.
  case objects([Subject])
}

extension PredicateAnswer where Subject: SlottedSubject {
  /// The answer as a value, with objects as their IDs.
  @inlinable
  package var value: Value {
    switch self {
    case .value(let value): value
    case .object(let object): object?.predicateValue ?? .null
    case .objects(let objects): .list(objects.map(\.predicateValue))
    }
  }
}

/// A subject whose properties are numbered by its resolved entity, as in a fetch.
///
/// `KeyedSubject` conforms for subjects without slots; the graph's rows and objects conform with
/// slots. Evaluation is generic over this protocol and specialised for each subject.
@usableFromInline
package protocol SlottedSubject<Related> {
  /// The type of the objects behind relationships.
  associatedtype Related: SlottedSubject where Related.Related == Related

  /// The value of SELF: the ID of an object, or the value itself.
  var predicateValue: Value { get }
  /// The subject's current state; nil if the subject has no identity.
  var predicateState: SubjectState? { get }
  /// An attribute's value, or the ID at the end of a to-one relationship.
  func predicateValue(slot: Slot) throws -> Value
  /// The object at the end of a to-one relationship.
  func predicateDestination(slot: Slot) throws -> Related?
  /// The objects at the end of a to-many relationship.
  func predicateDestinations(slot: Slot) throws -> [Related]
  /// The answer for a key, in a predicate compiled without an entity.
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Related>
}

extension SlottedSubject {
  /// No state.
  @usableFromInline package var predicateState: SubjectState? { nil }
}

/// A subject without slots. A predicate compiled without an entity reads keys only.
@usableFromInline
struct KeyedSubject<Base: KeyPathAnswering>: SlottedSubject where Base.Related == Base {
  /// Related subjects are wrapped in the same way.
  @usableFromInline typealias Related = KeyedSubject<Base>
  /// The subject that answers keys.
  @usableFromInline let base: Base

  /// Wraps a subject.
  @inlinable init(base: Base) { self.base = base }

  /// The value of SELF.
  @usableFromInline var predicateValue: Value { base.predicateValue }
  /// Null, because there are no slots.
  @usableFromInline func predicateValue(slot: Slot) -> Value { .null }
  /// Nil, because there are no slots.
  @usableFromInline func predicateDestination(slot: Slot) -> KeyedSubject? { nil }
  /// Empty, because there are no slots.
  @usableFromInline func predicateDestinations(slot: Slot) -> [KeyedSubject] { [] }

  /// The answer of the wrapped subject, with its objects wrapped.
  @inlinable
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<KeyedSubject> {
    switch try base.predicateAnswer(forKey: key) {
    case .value(let value): .value(value)
    case .object(let object): .object(object.map { KeyedSubject(base: $0) })
    case .objects(let objects): .objects(objects.map { KeyedSubject(base: $0) })
    }
  }
}

extension Value: KeyPathAnswering {
  /// The value itself.
  public var predicateValue: Value { self }

  /// The entry of a map, or null; for a list, the values of its elements.
  public func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Value> {
    .value(try value(forPredicateKey: key))
  }

  /// The entry of a map for a key. Throws `.evaluation` for lists that are nested too deeply.
  func value(forPredicateKey key: String) throws(ModelError) -> Value {
    try value(forPredicateKey: key, levels: TreeLimits.greatestDepth)
  }

  /// The entry, with a limit for nested lists.
  private func value(forPredicateKey key: String, levels: Int) throws(ModelError) -> Value {
    switch self {
    case .null: return .null
    case .map(let map): return map.value(exactly: key) ?? .null
    case .list(let elements):
      guard levels > 0 else {
        throw ModelError(.evaluation, message: "lists are nested too deeply to be asked for \(key)", property: key)
      }
      return .list(
        try elements.map { element throws(ModelError) in try element.value(forPredicateKey: key, levels: levels - 1) })
    case .string(let text) where key == "length": return .int(Int64(text.utf16.count))
    default:
      throw ModelError(.evaluation, message: "a value of type \(typeDescription) has no key \(key)", property: key)
    }
  }
}
