import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Finds objects of an entity by the values of attributes, those of many rows by one fetch.
final class KeyLookup {
  typealias Key = [Value]

  let entity: ResolvedEntity
  let properties: [ResolvedProperty]
  private var known: [Key: ManagedObject] = [:]
  /// Keys that more than one object has, and those that none in the store has.
  private var doubled: Set<Key> = []
  private var missing: Set<Key> = []
  /// Whether objects that wait to be saved count in what is known.
  private var isCorrected = false

  /// How many objects are kept from one chunk to the next.
  private static let greatestCount = 20_000

  init(_ entity: ResolvedEntity, _ properties: [ResolvedProperty]) {
    (self.entity, self.properties) = (entity, properties)
  }

  /// Whether an attribute is derived from others.
  var isDerived: Bool { properties.contains { $0.attribute?.derivationExpression != nil } }

  /// The keys among these of which nothing is known yet.
  func unknown(_ keys: Set<Key>) -> Set<Key> { keys.filter(isUnknown) }

  private func isUnknown(_ key: Key) -> Bool { known[key] == nil && !missing.contains(key) && !doubled.contains(key) }

  /// Keeps the objects of the chunk before, and asks again for keys that were missing or doubled. With `mayMove` saves
  /// change keys, and the lookup keeps nothing.
  func beginChunk(mayMove: Bool) {
    if mayMove || known.count > Self.greatestCount || isDerived { return forgetAll() }
    for key in doubled { known[key] = nil }
    doubled = []
    missing = []
  }

  /// Makes the objects of these keys known.
  func prepare(_ keys: Set<Key>, in context: ManagedObjectContext) throws {
    let wanted = unknown(keys)
    guard !wanted.isEmpty else { return }
    try take(context.fetch(request(for: wanted)))
    for key in wanted where known[key] == nil { missing.insert(key) }
  }

  /// The request that finds the objects of keys, and perhaps others.
  func request(for wanted: Set<Key>) -> FetchRequest {
    var request = FetchRequest(entity.name)
    request.predicate = .and(
      properties.indices.map { index in
        let values = Set(wanted.map { $0[index] })
        let path = Expression.keyPath(.evaluatedObject, [properties[index].name])
        let list = Predicate.comparison(.init(path, .in, .constant(.list(values.filter { !$0.isNull }))))
        guard values.contains(.null) else { return list }
        return .or([list, .comparison(.init(path, .equal, .constant(.null)))])
      })
    return request
  }

  /// Makes objects known that a request found.
  func take(_ objects: [ManagedObject]) throws {
    for object in objects {
      let key = try key(of: object)
      if let other = known[key], other !== object { doubled.insert(key) }
      known[key] = object
    }
  }

  /// The results for keys without one object: keys that no row has, and keys that several rows have.
  func note(missing none: some Sequence<Key>, doubled several: some Sequence<Key>) {
    for key in none where known[key] == nil { missing.insert(key) }
    doubled.formUnion(several)
  }

  /// The object of a key; nil where there is none. Throws where several have it. An object that has another key by now
  /// is not the one: the key is asked for again, of objects that wait to be saved too.
  func object(_ key: Key, in context: ManagedObjectContext) throws -> ManagedObject? {
    if let object = known[key], Self.isThere(object), try hasMoved(object, from: key) { forget(key) }
    if isUnknown(key) { try prepare([key], in: context) }
    if doubled.contains(key) { throw RowFault(reason: "several objects of \(entity.name) have \(words(key))") }
    guard let object = known[key], Self.isThere(object) else { return nil }
    return object
  }

  /// A fault has no changes of its own, and reading it could wait for a save that is under way.
  private func hasMoved(_ object: ManagedObject, from key: Key) throws -> Bool {
    try !object.isFault && self.key(of: object) != key
  }

  /// An object that was just inserted is found too. A key that was never asked for is asked for when it is wanted:
  /// the store may have an object of it.
  func note(_ object: ManagedObject) throws {
    guard object.entity.isKind(of: entity) else { return }
    isCorrected = true
    let key = try key(of: object)
    guard !isUnknown(key) else { return }
    missing.remove(key)
    if let other = known[key], other !== object, Self.isThere(other) { doubled.insert(key) }
    known[key] = object
  }

  /// Notes that the key of an object changed: the lookup asks again for the former key and for the new one.
  func note(_ object: ManagedObject, movedFrom former: Key) throws {
    let key = try key(of: object)
    guard key != former else { return }
    isCorrected = true
    forget(former)
    forget(key)
  }

  private func forget(_ key: Key) {
    known[key] = nil
    doubled.remove(key)
    missing.remove(key)
  }

  /// Takes in that changes of objects are given up.
  func forgetCorrected() { if isCorrected { forgetAll() } }

  func forgetAll() {
    known = [:]
    doubled = []
    missing = []
    isCorrected = false
  }

  /// A key in words.
  func words(_ key: Key) -> String {
    zip(properties, key).map { "\($0.name) \($1.isNull ? "(no value)" : "'\($1)'")" }.joined(separator: " and ")
  }

  /// The key that an object has.
  func key(of object: ManagedObject) throws -> Key { try properties.map { try object.value(at: $0.slot) } }

  private static func isThere(_ object: ManagedObject) -> Bool {
    !object.isDeleted && object.managedObjectContext != nil
  }
}
