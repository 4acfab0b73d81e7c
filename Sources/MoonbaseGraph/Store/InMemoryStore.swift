public import MoonbaseModel
public import MoonbasePlatform

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

/// A store that keeps its rows in memory and forgets them with the process.
///
/// It evaluates nothing itself: contexts do, with the same evaluator as for transient attributes.
public final class InMemoryStore: PersistentStore {
  public let identifier: String
  public let entities: [ResolvedEntity]

  private struct Links {
    var destinations: [ManagedObjectID: [ManagedObjectID]] = [:]
  }

  private struct Contents {
    var rows: [Int: [ManagedObjectID: Snapshot]] = [:]
    var lastKeys: [Int: Int64] = [:]
    /// Destinations of to-many relationships by declaring entity and slot.
    var links: [LinkKey: Links] = [:]
    var metadata: [String: Value] = [:]
  }

  private struct LinkKey: Hashable {
    var entity: Int
    var slot: Int
  }

  private let model: ResolvedModel
  private let contents = Lock(Contents())

  /// Makes an empty store for a model's entities, or those of one configuration.
  public init(model: ResolvedModel, configuration: String? = nil) throws {
    self.model = model
    identifier = UUID().uuidString
    entities = try model.entities(inConfiguration: configuration)
  }

  public var type: String { "InMemory" }
  public var url: URL? { nil }
  public var isReadOnly: Bool { false }

  public func metadata() -> [String: Value] { contents.withLock { $0.metadata } }
  public func setMetadata(_ metadata: [String: Value]) { contents.withLock { $0.metadata = metadata } }

  public func canEvaluate(_ predicate: Predicate, for query: StoreQuery) -> Bool { false }
  public func canSort(by key: SortDescriptor, for query: StoreQuery) -> Bool { false }

  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    let entity = query.entity.index
    let wanted = query.includesSubentities ? query.entity.subtree : entity..<entity + 1
    let all = contents.withLock { contents in wanted.flatMap { Array((contents.rows[$0] ?? [:]).values) } }
    let rows = all.sorted { $0.id.key < $1.id.key }.dropFirst(query.offset)
    return Array(query.limit > 0 ? rows.prefix(query.limit) : rows)
  }

  public func objectIDs(matching query: StoreQuery) throws -> [ManagedObjectID] {
    try snapshots(matching: query).map(\.id)
  }

  public func count(matching query: StoreQuery) throws -> Int { try snapshots(matching: query).count }

  public func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard let entity = model.entity(of: id) else { return nil }
    return contents.withLock { $0.rows[entity.index]?[id] }
  }

  public func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { try ids.compactMap(snapshot(of:)) }

  public func destinations(of id: ManagedObjectID, relationship slot: Int) throws -> [ManagedObjectID] {
    guard let property = model.entity(of: id)?.properties[slot], let relationship = property.relationship else {
      return []
    }
    let key = LinkKey(entity: property.declaringEntity, slot: slot)
    let listed = contents.withLock { $0.links[key]?.destinations[id] }
    guard !relationship.isManyToMany, let inverse = relationship.inverseSlot else { return listed ?? [] }
    return ordered(pointing(at: id, inverse, relationship), like: listed)
  }

  /// The rows whose to-one relationship points at the object.
  private func pointing(at id: ManagedObjectID, _ slot: Int, _ relationship: ResolvedRelationship) -> [ManagedObjectID]
  {
    let entities = model.entities[relationship.destination].subtree
    let rows = contents.withLock { contents in entities.flatMap { Array((contents.rows[$0] ?? [:]).values) } }
    return rows.filter { $0.values[slot] == .objectID(id) }.map(\.id).sorted { $0.key < $1.key }
  }

  private func ordered(_ ids: [ManagedObjectID], like order: [ManagedObjectID]?) -> [ManagedObjectID] {
    guard let order else { return ids }
    let present = Set(ids)
    let known = order.filter(present.contains)
    return known + ids.filter { !known.contains($0) }
  }

  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    contents.withLock { contents in
      let last = contents.lastKeys[entity.root] ?? 0
      contents.lastKeys[entity.root] = last + Int64(count)
      return last + 1
    }
  }

  public func save(_ changes: StoreChanges) throws {
    let model = model
    try contents.withLock { contents in
      var next = contents
      try Self.check(changes, against: next, model)
      Self.apply(changes, to: &next, model)
      try Self.checkUniqueness(of: changes, in: next, model)
      contents = next
    }
  }

  // MARK: Saving

  private static func check(_ changes: StoreChanges, against contents: Contents, _ model: ResolvedModel) throws {
    let expected =
      changes.updated.map { ($0.snapshot.id, $0.expectedVersion) }
      + changes.deleted.map { ($0.id, $0.expectedVersion) }
    let conflicts = expected.compactMap { id, version -> GraphError? in
      let row = model.entity(of: id).flatMap { contents.rows[$0.index]?[id] }
      if let version, row?.version != version { return .conflict(id, expected: version, found: row?.version) }
      return nil
    }
    try GraphError.throwConflicts(conflicts)
  }

  private static func apply(_ changes: StoreChanges, to contents: inout Contents, _ model: ResolvedModel) {
    for snapshot in changes.inserted + changes.updated.map(\.snapshot) {
      guard let entity = model.entity(of: snapshot.id) else { continue }
      contents.rows[entity.index, default: [:]][snapshot.id] = snapshot
    }
    for links in changes.links { apply(links, to: &contents, model) }
    for deletion in changes.deleted {
      guard let entity = model.entity(of: deletion.id) else { continue }
      contents.rows[entity.index]?[deletion.id] = nil
      for slot in entity.toManySlots { unlinkAll(deletion.id, slot, entity, in: &contents, model) }
    }
  }

  private static func apply(_ links: StoreChanges.Links, to contents: inout Contents, _ model: ResolvedModel) {
    guard let entity = model.entity(of: links.owner), let relationship = entity.properties[links.slot].relationship
    else { return }
    let key = LinkKey(entity: entity.properties[links.slot].declaringEntity, slot: links.slot)
    for id in links.added {
      contents.links[key, default: Links()].destinations[links.owner, default: []].append(id)
      if let inverse = inverseKey(relationship, model), (inverse, id) != (key, links.owner) {
        contents.links[inverse, default: Links()].destinations[id, default: []].append(links.owner)
      }
    }
    for id in links.removed {
      contents.links[key]?.destinations[links.owner]?.removeAll { $0 == id }
      if let inverse = inverseKey(relationship, model) {
        contents.links[inverse]?.destinations[id]?.removeAll { $0 == links.owner }
      }
    }
    if let order = links.order { contents.links[key, default: Links()].destinations[links.owner] = order }
  }

  private static func inverseKey(_ relationship: ResolvedRelationship, _ model: ResolvedModel) -> LinkKey? {
    guard relationship.isManyToMany, let slot = relationship.inverseSlot else { return nil }
    return LinkKey(entity: model.entities[relationship.destination].properties[slot].declaringEntity, slot: slot)
  }

  private static func unlinkAll(
    _ id: ManagedObjectID, _ slot: Int, _ entity: ResolvedEntity, in contents: inout Contents, _ model: ResolvedModel
  ) {
    guard let relationship = entity.properties[slot].relationship else { return }
    let key = LinkKey(entity: entity.properties[slot].declaringEntity, slot: slot)
    let destinations = contents.links[key]?.destinations.removeValue(forKey: id) ?? []
    guard let inverse = inverseKey(relationship, model) else { return }
    for destination in destinations { contents.links[inverse]?.destinations[destination]?.removeAll { $0 == id } }
  }

  private static func checkUniqueness(of changes: StoreChanges, in contents: Contents, _ model: ResolvedModel) throws {
    for entity in model.entities where !entity.description.uniquenessConstraints.isEmpty {
      let rows = entity.subtree.flatMap { Array((contents.rows[$0] ?? [:]).values) }
      for constraint in entity.uniquenessConstraints {
        try checkUniqueness(constraint, rows, entity)
      }
    }
  }

  private static func checkUniqueness(_ constraint: [Int], _ rows: [Snapshot], _ entity: ResolvedEntity) throws {
    var seen: [[Value]: ManagedObjectID] = [:]
    for row in rows.sorted(by: { $0.id.key < $1.id.key }) {
      let values = constraint.map { row.values[$0] }
      if values.contains(.null) { continue }
      if let other = seen.updateValue(row.id, forKey: values) {
        let names = constraint.map { entity.properties[$0].name }.joined(separator: ", ")
        throw GraphError(
          .constraintConflict, "\(entity.name): another object (\(other)) has the same \(names)", entity: entity.name,
          property: constraint.count == 1 ? names : nil, objectID: row.id)
      }
    }
  }
}
