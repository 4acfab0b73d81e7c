public import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

public import enum MoonbaseModel.Expression
public import enum MoonbaseModel.Predicate

/// Key-value coding over several objects.
extension ManagedObject {
  /// The value at the end of a key path: `department.name`, `department.people.age`, `people.@avg.age`.
  ///
  /// Each key is evaluated like `value(forKey:)`, with accessors of subclasses, derived and fetched properties. Objects
  /// on the way may have keys of subentities. A path through a to-many relationship gives a list. Objects are given by
  /// their IDs, and a relationship without a destination gives null. Collection operators are those of predicates:
  /// `@count`, `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects` and `@distinctUnionOfObjects`.
  ///
  /// Throws for unknown keys and operators, for an operator on a value that is no collection, and the errors of
  /// `value(forKey:)`. Paths are compiled once per context.
  public final func value(forKeyPath path: String) throws -> Value {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return try value(forKey: path) }
    guard let context else { throw detachedError }
    let value = try naming(path) {
      try context.caches.keyPaths.expression(for: path).value(KeyPathSubject(object: self))
    }
    return isSumOfNoDecimals(value, at: path) ? .decimal(0) : value
  }

  /// Whether a value is a sum over no decimals, which has to be a decimal zero. False if only subentities have the
  /// keys.
  private final func isSumOfNoDecimals(_ value: Value, at path: String) -> Bool {
    guard case .int(0) = value, path.utf8.contains(UInt8(ascii: "@")), let model = context?.model else { return false }
    return (try? model.isSumOfDecimals(KeyPaths.keys(of: path), from: entity)) == true
  }

  /// Sets the value at the end of a key path in each object before its last key: in all or none.
  ///
  /// Throws for a to-one relationship without a destination, for collection operators, and the errors of
  /// `setValue(_:forKey:)`.
  public final func setValue(_ value: Value, forKeyPath path: String) throws {
    var keys = try KeyPaths.keys(of: path, on: entity)
    let last = keys.removeLast()
    guard let context else { throw detachedError }
    guard !keys.isEmpty else { return try setValue(value, forKey: last) }
    if let name = (keys + [last]).first(where: { $0.hasPrefix("@") }) {
      throw refused(path, reason: "\(name) computes a value, which cannot be assigned")
    }
    let ends = try objects(along: keys, of: path)
    try context.changingTogether {
      for object in ends { try object.setValue(value, forKey: last) }
    }
  }

  /// Values by name, evaluated like `value(forKey:)`. Throws for the first key that cannot be read.
  public final func dictionaryWithValues(forKeys keys: [String]) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for key in keys { values[key] = try value(forKey: key) }
    return values
  }

  /// Sets values by name like `setValue(_:forKey:)`, all or none. `.null` removes a value. Throws the first error after
  /// undoing all changes.
  public final func setValuesForKeys(_ values: [String: Value]) throws {
    guard let context else { throw detachedError }
    try context.changingTogether {
      for (key, value) in values { try setValue(value, forKey: key) }
    }
  }

  /// The objects at the end of a path, without duplicates. A to-one relationship without a destination throws
  /// `.invalidValue`.
  private final func objects(along keys: [String], of path: String) throws -> OrderedSet<ManagedObject> {
    var reached: OrderedSet<ManagedObject> = [self]
    for key in keys {
      var next: OrderedSet<ManagedObject> = []
      for object in reached {
        switch try KeyPathSubject(object: object).predicateAnswer(forKey: key) {
        case .objects(let several): next.append(contentsOf: several.map(\.object))
        case .object(let one?): next.append(one.object)
        case .object(nil):
          throw object.refused(
            path, reason: "\(key) of \(object.objectID) has no destination, so that nothing can be set there")
        case .value:
          throw object.refused(path, reason: "\(object.entity.name).\(key) is an attribute, which leads to no object")
        }
      }
      reached = next
    }
    return reached
  }

  /// The code is `.invalidValue`.
  private final func refused(_ path: String, reason: String) -> GraphError {
    var error = GraphError(
      .invalidValue, message: "\(entity.name): key path \(path): \(reason)", entity: entity.name, property: path,
      objectID: objectID)
    error.reason = reason
    return error
  }

  /// Runs `body`; an error of evaluation gains the key path.
  private final func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ModelError where !error.code.endsRun {
      throw GraphError(
        error.code, message: "\(entity.name): key path \(path): \(error.message)", entity: entity.name,
        property: error.property ?? path, objectID: objectID, underlying: error)
    }
  }
}

/// An object as the subject of a key path.
///
/// A predicate sees stored values, as a store would evaluate it; a key path sees the results of `value(forKey:)`.
struct KeyPathSubject: SlottedSubject {
  typealias Related = KeyPathSubject

  /// The object whose keys are asked.
  let object: ManagedObject

  /// The object's ID.
  var predicateValue: Value { .objectID(object.objectID) }

  /// Through the accessor of a subclass.
  func predicateValue(slot: Slot) throws -> Value { try object.value(at: slot) }

  /// Nil for a relationship without a destination.
  func predicateDestination(slot: Slot) throws -> KeyPathSubject? {
    guard case .objectID(let id) = try object.value(at: slot) else { return nil }
    return KeyPathSubject(object: try object.destinationObject(id, slot: slot))
  }

  /// Through the accessor of a subclass.
  func predicateDestinations(slot: Slot) throws -> [KeyPathSubject] {
    let key = object.entity.property(at: slot).name
    return try object.objects(forKey: key).map(KeyPathSubject.init)
  }

  /// Also answers `objectID`, `self` and fetched properties. Throws `.unknownName`.
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<KeyPathSubject> {
    guard let slot = object.entity.slot(key) else {
      switch key {
      case "objectID": return .value(predicateValue)
      case "self", "SELF": return .object(self)
      default: return .objects(try object.fetchedObjects(forKey: key).map(KeyPathSubject.init))
      }
    }
    switch object.entity.property(at: slot).kind {
    case .attribute: return .value(try object.value(at: slot))
    case .toOne: return .object(try predicateDestination(slot: slot))
    case .toMany: return .objects(try predicateDestinations(slot: slot))
    }
  }
}

/// Fetched properties: each access runs a fetch with the object as `$FETCH_SOURCE`.
///
/// Predicates of fetched properties may use a key path behind `$FETCH_SOURCE`, for example `city ==
/// $FETCH_SOURCE.city`.
extension ManagedObject {
  /// The current objects of a fetched property, with unsaved changes considered.
  ///
  /// In its predicate, `$FETCH_SOURCE` is this object and `$FETCHED_PROPERTY` the property, whose `userInfo` has the
  /// entries of the model. Throws for an unknown name, and the errors of a fetch.
  public final func fetchedObjects(forKey key: String) throws -> [ManagedObject] {
    guard let property = entity.fetchedProperties[key] else {
      throw GraphError.unknownProperty(key, of: entity, id: objectID)
    }
    guard let context else { throw detachedError }
    var request = property.fetchRequest
    request.predicate = try request.predicate.map { try filled($0, of: property, in: context) }
    return try context.fetch(request)
  }

  /// The value of a property without a slot. A list of object IDs. Throws `.unknownName` for an unknown property.
  final func fetchedValue(forKey key: String) throws -> Value {
    .list(try fetchedObjects(forKey: key).map { .objectID($0.objectID) })
  }

  /// The predicate of a fetched property with its variables replaced. Throws for a key path that cannot be evaluated.
  private func filled(
    _ predicate: Predicate, of property: FetchedPropertyDescription, in context: ManagedObjectContext
  ) throws -> Predicate {
    let description: Value = ["name": .string(property.name), "userInfo": .map(property.userInfo)]
    let withSource = try predicate.substituting { (name, path) throws -> Expression in
      guard name == "FETCH_SOURCE" else { return path.isEmpty ? .variable(name) : .keyPath(.variable(name), path) }
      guard !path.isEmpty else { return .constant(.objectID(objectID)) }
      let expression = Expression.keyPath(.evaluatedObject, path)
      return .value(try CompiledExpression(expression, entity: entity, in: context.model).value(self))
    }
    return try withSource.substituting(["FETCHED_PROPERTY": description])
  }
}

/// The values that predicates and sort keys read. Every key uses the accessor of a subclass.
///
/// Predicates in memory see the same values as a store: not-a-number and damaged values count as null.
extension ManagedObject: KeyPathAnswering, SlottedSubject {
  /// Keys may refer to objects of any class.
  public typealias Related = ManagedObject

  /// The object's ID.
  public final var predicateValue: Value { .objectID(objectID) }

  /// Identifies a state of the object for cached results, which are valid until its context changes.
  ///
  /// Nil while a getter runs, whose reads have to be recorded.
  @usableFromInline
  package final var predicateState: SubjectState? {
    guard let context, !context.derivations.isRecording else { return nil }
    return SubjectState(id: objectID, context: context, changes: context.changeCount)
  }

  /// The value or the objects under a key. Throws for an unknown key, and if the store cannot be read.
  public final func predicateAnswer(forKey key: String) throws -> PredicateAnswer<ManagedObject> {
    guard let slot = entity.slot(key) else {
      if key == "objectID" { return .value(predicateValue) }
      throw GraphError.unknownProperty(key, of: entity, id: objectID)
    }
    switch entity.property(at: slot).kind {
    case .attribute: return .value(try predicateValue(slot: slot))
    case .toOne: return .object(try predicateDestination(slot: slot))
    case .toMany: return .objects(try predicateDestinations(slot: slot))
    }
  }

  /// The value that a predicate sees in a slot. Fires a fault. Throws the errors of accessors.
  @usableFromInline
  package final func predicateValue(slot: Slot) throws -> Value {
    if state.contains(.fault) { try fireFault() }
    let value = !hasLiveValues || state.contains(.listed) ? try value(at: slot) : try savedValue(at: slot)
    // A computed not-a-number counts as null, as it does in a store.
    if case .double(let number) = value, number.isNaN { return .null }
    return value
  }

  /// The value in the row: values that awake-from-fetch set are no changes, and a store does not see them. Transient
  /// values stay.
  @inline(never)
  private func savedValue(at slot: Slot) throws -> Value {
    guard !state.contains(.awaking), !changed.isEmpty else { return try value(at: slot) }
    return try asSaved { try value(at: slot) }
  }

  /// The destination; nil if it no longer exists. Throws errors of the store.
  @usableFromInline
  package final func predicateDestination(slot: Slot) throws -> ManagedObject? {
    guard case .objectID(let id) = try predicateValue(slot: slot) else { return nil }
    return try context?.objectIfPresent(with: id)
  }

  /// The destinations that a predicate sees, without those that no longer exist. Reads the relationship if necessary.
  @usableFromInline
  package final func predicateDestinations(slot: Slot) throws -> [ManagedObject] {
    guard let context else { throw detachedError }
    return try memberIDs(slot).compactMap { id in
      try HostWork.charge()
      return try context.objectIfPresent(with: id)
    }
  }
}
