/// Anything that predicates and sort keys can be evaluated on: it answers keys.
///
/// `Value` is one: a map answers with its entries. Managed objects are another.
///
/// ```swift
/// struct Point: KeyPathAnswering {
///   var x: Double
///
///   func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Point> { .value(key == "x" ? .double(x) : .null) }
///   var predicateValue: Value { .null }
/// }
/// ```
public protocol KeyPathAnswering {
  /// What keys may lead to; the type itself in most cases.
  associatedtype Related: KeyPathAnswering = Self where Related.Related == Related

  /// What SELF is in a comparison: the ID of an object, or the value itself.
  var predicateValue: Value { get }

  /// What is found under a key. Throws where the key is unknown or cannot be read.
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Related>
}

/// What a key leads to.
public enum PredicateAnswer<Subject> {
  /// A value.
  case value(Value)
  /// One object, or none.
  case object(Subject?)
  /// Several objects; in order, where there is one.
  case objects([Subject])
}

extension PredicateAnswer where Subject: SlottedSubject {
  /// As a value: objects by their IDs.
  @inlinable
  package var value: Value {
    switch self {
    case .value(let value): value
    case .object(let object): object?.predicateValue ?? .null
    case .objects(let objects): .list(objects.map(\.predicateValue))
    }
  }
}

/// A subject whose properties are numbered by its resolved entity: what a fetch is evaluated on.
@usableFromInline
package protocol SlottedSubject<Related> {
  associatedtype Related: SlottedSubject where Related.Related == Related

  var predicateValue: Value { get }
  /// The state in which it answers; nil where nothing tells one from another.
  var predicateState: SubjectState? { get }
  /// An attribute's value, or the ID at the end of a to-one relationship.
  func predicateValue(slot: Slot) throws -> Value
  func predicateDestination(slot: Slot) throws -> Related?
  func predicateDestinations(slot: Slot) throws -> [Related]
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Related>
}

extension SlottedSubject {
  @usableFromInline package var predicateState: SubjectState? { nil }
}

/// A subject without slots. Compiled without an entity, a predicate asks for keys only.
@usableFromInline
struct KeyedSubject<Base: KeyPathAnswering>: SlottedSubject where Base.Related == Base {
  @usableFromInline typealias Related = KeyedSubject<Base>
  @usableFromInline let base: Base

  @inlinable init(base: Base) { self.base = base }

  @usableFromInline var predicateValue: Value { base.predicateValue }
  @usableFromInline func predicateValue(slot: Slot) -> Value { .null }
  @usableFromInline func predicateDestination(slot: Slot) -> KeyedSubject? { nil }
  @usableFromInline func predicateDestinations(slot: Slot) -> [KeyedSubject] { [] }

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

  /// An entry of a map, null where there is none; an element's key for each element of a list.
  public func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Value> {
    .value(try value(forPredicateKey: key))
  }

  func value(forPredicateKey key: String) throws(ModelError) -> Value {
    try value(forPredicateKey: key, levels: TreeLimits.greatestDepth)
  }

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
