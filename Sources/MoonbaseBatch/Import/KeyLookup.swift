import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Finds objects of an entity by values of attributes, for many rows with a single fetch.
///
/// A lookup is made for `--upsert`, and for each column with a key path. It caches objects by key
/// from chunk to chunk, and notes the effect of unsaved changes on keys. It belongs to the thread
/// of the context.
final class KeyLookup {
  /// The values of the key's attributes, in order.
  typealias Key = [Value]

  /// The entity of the objects, including its subentities.
  let entity: ResolvedEntity
  /// The attributes of the key.
  let properties: [ResolvedProperty]
  /// The object of each key.
  private var known: [Key: ManagedObject] = [:]
  /// The keys of several objects, and the keys without an object in the store.
  private var doubled: Set<Key> = []
  /// The keys for which the store has no object.
  private var missing: Set<Key> = []
  /// Whether the known objects include unsaved ones.
  private var isCorrected = false

  /// The most objects kept from a chunk to the next.
  private static let greatestCount = 20_000

  /// A lookup without objects.
  init(_ entity: ResolvedEntity, _ properties: [ResolvedProperty]) {
    (self.entity, self.properties) = (entity, properties)
  }

  /// Whether an attribute is derived from others.
  var isDerived: Bool { properties.contains { $0.attribute?.derivationExpression != nil } }

  /// The keys that have not been looked up yet.
  func unknown(_ keys: Set<Key>) -> Set<Key> { keys.filter(isUnknown) }

  /// Whether the store was not asked for a key yet.
  private func isUnknown(_ key: Key) -> Bool { known[key] == nil && !missing.contains(key) && !doubled.contains(key) }

  /// Keeps the objects of the previous chunk, and forgets missing and ambiguous keys. `mayMove` says that saves change
  /// keys, so that nothing is kept.
  func beginChunk(mayMove: Bool) {
    if mayMove || known.count > Self.greatestCount || isDerived { return forgetAll() }
    for key in doubled { known[key] = nil }
    doubled = []
    missing = []
  }

  /// Looks up the objects of these keys.
  ///
  /// A single fetch serves all keys of a chunk.
  func prepare(_ keys: Set<Key>, in context: ManagedObjectContext) throws {
    let wanted = unknown(keys)
    guard !wanted.isEmpty else { return }
    try add(context.fetch(request(for: wanted)))
    for key in wanted where known[key] == nil { missing.insert(key) }
  }

  /// A request that finds the objects of keys, and possibly others.
  ///
  /// The request has a list of values for each attribute, so for keys of several attributes it may
  /// find other combinations too.
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

  /// Adds the objects that a request found.
  ///
  /// Two objects with the same key make the key ambiguous.
  func add(_ objects: [ManagedObject]) throws {
    for object in objects {
      let key = try key(of: object)
      if let other = known[key], other !== object { doubled.insert(key) }
      known[key] = object
    }
  }

  /// Adds the results for keys without a single object: missing keys and ambiguous keys.
  func note(missing none: some Sequence<Key>, doubled several: some Sequence<Key>) {
    for key in none where known[key] == nil { missing.insert(key) }
    doubled.formUnion(several)
  }

  /// The object of a key; nil if there is none. Throws if several objects have it. If the object's key changed, the key
  /// is looked up again, also among unsaved objects.
  ///
  /// Throws `RowFault` with the key in words.
  func object(_ key: Key, in context: ManagedObjectContext) throws -> ManagedObject? {
    if let object = known[key], Self.isThere(object), try hasMoved(object, from: key) { forget(key) }
    if isUnknown(key) { try prepare([key], in: context) }
    if doubled.contains(key) { throw RowFault(reason: "several objects of \(entity.name) have \(words(key))") }
    guard let object = known[key], Self.isThere(object) else { return nil }
    return object
  }

  /// A fault has no changes of its own, and reading it could wait for a pending save.
  private func hasMoved(_ object: ManagedObject, from key: Key) throws -> Bool {
    try !object.isFault && self.key(of: object) != key
  }

  /// Adds an inserted object. A key not looked up yet is not added, because the store may have an object with it.
  func note(_ object: ManagedObject) throws {
    guard object.entity.isKind(of: entity) else { return }
    isCorrected = true
    let key = try key(of: object)
    guard !isUnknown(key) else { return }
    missing.remove(key)
    if let other = known[key], other !== object, Self.isThere(other) { doubled.insert(key) }
    known[key] = object
  }

  /// Notes that the key of an object changed. The lookup forgets the former and the new key.
  func note(_ object: ManagedObject, movedFrom former: Key) throws {
    let key = try key(of: object)
    guard key != former else { return }
    isCorrected = true
    forget(former)
    forget(key)
  }

  /// Makes a key unknown, so that it is looked up again.
  private func forget(_ key: Key) {
    known[key] = nil
    doubled.remove(key)
    missing.remove(key)
  }

  /// Notes that changes of objects are discarded.
  func forgetCorrected() { if isCorrected { forgetAll() } }

  /// Empties the lookup.
  func forgetAll() {
    known = [:]
    doubled = []
    missing = []
    isCorrected = false
  }

  /// A key in words.
  ///
  /// For example, `name 'Ada' and city (no value)`.
  func words(_ key: Key) -> String {
    zip(properties, key).map { "\($0.name) \($1.isNull ? "(no value)" : "'\($1)'")" }.joined(separator: " and ")
  }

  /// The key of an object.
  func key(of object: ManagedObject) throws -> Key { try properties.map { try object.value(at: $0.slot) } }

  /// Whether an object still is in its context and not deleted.
  private static func isThere(_ object: ManagedObject) -> Bool {
    !object.isDeleted && object.managedObjectContext != nil
  }
}
