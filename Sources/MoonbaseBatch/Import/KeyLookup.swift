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

  /// How many objects are kept from one chunk to the next.
  private static let greatestCount = 20_000

  init(_ entity: ResolvedEntity, _ properties: [ResolvedProperty]) {
    (self.entity, self.properties) = (entity, properties)
  }

  /// The keys among these of which nothing is known yet.
  func unknown(_ keys: Set<Key>) -> Set<Key> {
    if known.count + missing.count > Self.greatestCount { forgetAll() }
    return keys.filter { known[$0] == nil && !missing.contains($0) }
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

  /// The object of a key; nil where there is none. Throws where several have it.
  func object(_ key: Key) throws -> ManagedObject? {
    if doubled.contains(key) { throw RowFault(reason: "several objects of \(entity.name) have \(words(key))") }
    guard let object = known[key], Self.isThere(object) else { return nil }
    return object
  }

  /// An object that was just inserted is found too.
  func note(_ object: ManagedObject) throws {
    let key = try key(of: object)
    missing.remove(key)
    if let other = known[key], other !== object, Self.isThere(other) { doubled.insert(key) }
    known[key] = object
  }

  func forgetAll() {
    known = [:]
    doubled = []
    missing = []
  }

  /// A key in words.
  func words(_ key: Key) -> String {
    zip(properties, key).map { "\($0.name) \($1.isNull ? "(no value)" : "'\($1)'")" }.joined(separator: " and ")
  }

  private func key(of object: ManagedObject) throws -> Key { try properties.map { try object.value(at: $0.slot) } }

  private static func isThere(_ object: ManagedObject) -> Bool {
    !object.isDeleted && object.managedObjectContext != nil
  }
}
