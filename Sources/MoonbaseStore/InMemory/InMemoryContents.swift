import MoonbaseModel

/// The rows of an in-memory store, with indexes so that neither a save nor a relationship scans all rows.
struct InMemoryContents {
  /// The values of a uniqueness constraint in one row.
  fileprivate struct UniqueKey: Hashable {
    var constraint: Int
    var values: [Value]
  }

  let model: ResolvedModel
  let plans: [InMemoryPlan]
  /// The derivations that depend on the rows of each entity.
  let sources: [EntityIndex: [DerivationSource]]
  /// Whether the store derives any attributes.
  let derives: Bool
  /// Whether a derived value may exceed the type of its attribute.
  private let mayMisfit: Bool
  /// Whether the model has uniqueness constraints.
  private let hasConstraints: Bool
  var lastKeys: [EntityIndex: Int64] = [:]
  var metadata: [String: Value] = [:]
  /// The rows, by entity.
  private var tables: [InMemoryTable]
  /// Destinations of many-to-many relationships, and of to-many relationships without an inverse.
  private(set) var links: [PropertyID: [ManagedObjectID: MemberList]] = [:]
  /// The order of ordered relationships. Destinations without a saved position come after the positioned ones, by key.
  var orders: [PropertyID: [ManagedObjectID: MemberList]] = [:]
  /// The rows whose to-one relationship points at an object.
  private(set) var pointers: [PropertyID: [ManagedObjectID: Set<ManagedObjectID>]] = [:]
  private var unique: [UniqueKey: ManagedObjectID] = [:]
  private(set) var index = InMemoryIndex()
  /// The number of saves so far.
  private(set) var state = 0
  /// Rows whose derived values must be recomputed, while a save is applied.
  var underived: Set<ManagedObjectID> = []
  /// The error of the first derived value that does not fit its attribute, while a save is tried.
  var misfit: GraphError?

  init(model: ResolvedModel) {
    self.model = model
    plans = InMemoryPlan.plans(for: model)
    derives = plans.contains { !$0.derivations.isEmpty }
    mayMisfit = zip(model.entities, plans).contains { entity, plan in
      plan.derivations.contains { $0.mayMisfit(entity.properties[$0.slot].attribute) }
    }
    sources = derives ? DerivationSource.all(of: model) : [:]
    hasConstraints = plans.contains { !$0.constraints.isEmpty }
    tables = Array(repeating: InMemoryTable(), count: model.entities.count)
  }

  // MARK: Reading

  /// The row of an object.
  func row(of id: ManagedObjectID) -> Snapshot? { model.entity(of: id).flatMap { tables[$0.index][id.key] } }

  /// The rows of some entities in the order of their keys.
  func walk(_ entities: Range<EntityIndex>) -> InMemoryWalk {
    var walk = InMemoryWalk()
    for index in entities { walk.add(tables[index]) }
    return walk
  }

  /// The candidates for a condition: all rows that satisfy it, and possibly more.
  mutating func rows(_ condition: IndexedCondition) -> [Snapshot] {
    let tables = tables
    let ids = index.ids(condition, in: model) { condition.entities.flatMap { tables[$0].rows } }
    return ids.compactMap(row(of:))
  }

  func rowCount(of entities: Range<EntityIndex>) -> Int { entities.reduce(0) { $0 + tables[$1].count } }

  /// The destinations of a to-many relationship, in order if it is ordered.
  func destinations(of id: ManagedObjectID, slot: Slot) -> [ManagedObjectID] {
    guard let property = model.entity(of: id)?.properties[slot], let relationship = property.relationship else {
      return []
    }
    let key = property.id
    let ids =
      if !relationship.isManyToMany, let inverse = relationship.inverseSlot {
        pointers[model.destination(of: relationship).properties[inverse].id]?[id]?.sorted { $0.key < $1.key }
      } else {
        links[key]?[id]?.filter { row(of: $0) != nil }
      }
    return Self.ordered(ids ?? [], like: orders[key]?[id])
  }

  /// Whether an object is a destination of another one.
  func isLinked(_ links: StoreChanges.Links, _ id: ManagedObjectID) -> Bool {
    guard let property = model.entity(of: links.owner)?.properties[links.slot], let relationship = property.relationship
    else { return false }
    guard !relationship.isManyToMany, let inverse = relationship.inverseSlot else {
      var members = self.links[property.id]?[links.owner]
      return members?.contains(id) == true
    }
    return row(of: id)?.values[inverse].objectID == links.owner
  }

  /// The number of destinations of a relationship; too high if rows of some destinations are gone.
  func destinationCount(of id: ManagedObjectID, slot: Slot) -> Int {
    guard let property = model.entity(of: id)?.properties[slot], let relationship = property.relationship else {
      return 0
    }
    guard !relationship.isManyToMany, let inverse = relationship.inverseSlot else {
      return links[property.id]?[id]?.count ?? 0
    }
    return pointers[model.destination(of: relationship).properties[inverse].id]?[id]?.count ?? 0
  }

  /// IDs in a saved order; IDs without a saved position come last.
  private static func ordered(_ ids: [ManagedObjectID], like order: MemberList?) -> [ManagedObjectID] {
    guard let order else { return ids }
    var rest = Set(ids)
    let known = order.filter { rest.remove($0) != nil }
    return known + ids.filter(rest.contains)
  }

  // MARK: Saving

  /// The bytes that a row needs beside its values: for its place in the table and in the indexes of relationships.
  private static let rowWeight = 64

  /// The estimated number of bytes by which changes increase the memory of the rows.
  func growth(by changes: StoreChanges) -> Int {
    let inserted = changes.inserted.weight &+ Self.rowWeight &* changes.inserted.count
    let updated = changes.updated.rows.weight &- weight(replacedBy: changes.updated.rows)
    let deleted = changes.deleted.reduce(0) { sum, deletion in
      sum &+ (row(of: deletion.id).map { Self.rowWeight &+ $0.weight } ?? 0)
    }
    return inserted &+ updated &- deleted
  }

  private func weight(replacedBy rows: RowBatch) -> Int {
    rows.stretches.reduce(0) { sum, stretch in
      guard let entity = model.entity(stretch.page.entity) else { return sum }
      return tables[entity.index].reduce(sum, over: stretch) { sum, _, old in sum &+ (old?.page.rowWeight ?? 0) }
    }
  }

  /// Checks changes for conflicts; without conflicts, claims their unique values.
  mutating func claim(_ changes: StoreChanges) -> (conflicts: [SaveConflict], claims: Claims) {
    let versions = otherVersions(than: changes)
    if !versions.isEmpty { return (versions, Claims()) }
    let loose = looseReferences(of: changes)
    return loose.isEmpty ? claimUniqueValues(of: changes) : (loose, Claims())
  }

  /// Writes changes whose claim succeeded; cannot fail. Returns the IDs of rows whose derived attributes changed.
  mutating func write(_ changes: StoreChanges) -> [ManagedObjectID] {
    state += 1
    put(changes.inserted)
    put(changes.updated.rows)
    for deletion in changes.deleted { remove(deletion.id) }
    for links in changes.links { for id in links.removed { link(links, id: id, isThere: false) } }
    for links in changes.links { for id in links.added { link(links, id: id, isThere: true) } }
    for links in changes.links { arrange(links) }
    return derives ? derive(saved: Set(changes.inserted.ids).union(changes.updated.rows.ids)) : []
  }

  /// A copy in which a save can be tried, if a derived value may not fit its attribute; nil if every value fits. Only
  /// the rows and index parts that the changes touch are copied.
  var trial: Self? { mayMisfit ? self : nil }

  /// The conflicts for rows whose version differs from the expected one.
  private func otherVersions(than changes: StoreChanges) -> [SaveConflict] {
    otherVersions(than: changes.updated)
      + changes.deleted.compactMap { otherVersion(of: $0.id, than: $0.expectedVersion) }
  }

  private func otherVersions(than updates: StoreChanges.Updates) -> [SaveConflict] {
    var conflicts: [SaveConflict] = []
    updates.forEachStretch { page, places, run in
      guard let offset = run.offset, let entity = model.entity(page.entity) else { return }
      let stretch = RowBatch.Stretch(page: page, places: places, start: 0)
      tables[entity.index].reduce((), over: stretch) { _, place, old in
        let version = page.version(place) &+ offset
        if old?.page.version(old?.place ?? 0) == version { return }
        if let conflict = otherVersion(of: page.id(place), than: version) { conflicts.append(conflict) }
      }
    }
    return conflicts
  }

  private func otherVersion(of id: ManagedObjectID, than version: Int64?) -> SaveConflict? {
    guard let version else { return nil }
    guard let found = row(of: id) else { return SaveConflict(id, .deleted) }
    if found.version == version { return nil }
    return SaveConflict(id, .changed(expected: version, found: found.version), foundRow: found)
  }

  // MARK: Rows

  /// Stores inserted or changed rows and updates the indexes.
  private mutating func put(_ rows: RowBatch) {
    for stretch in rows.stretches {
      guard let entity = model.entity(stretch.page.entity) else { continue }
      let plan = plans[entity.index]
      if index.isEmpty, plan.pointers.isEmpty, !derives {
        tables[entity.index].put(stretch)
      } else {
        for place in stretch.places { put(Snapshot(unchecked: stretch.page, at: place)) }
      }
    }
  }

  private mutating func put(_ snapshot: Snapshot) {
    guard let entity = model.entity(of: snapshot.id) else { return }
    let old = tables[entity.index].put(snapshot, at: snapshot.id.key)
    index.move(from: old, to: snapshot, of: entity)
    point(from: old, to: snapshot, plan: plans[entity.index])
    noteSource(snapshot.id, from: old, to: snapshot)
  }

  /// Replaces a row by another row of the same version.
  mutating func replace(_ old: Snapshot, with new: Snapshot, of entity: ResolvedEntity) {
    _ = tables[entity.index].put(new, at: new.id.key)
    index.move(from: old, to: new, of: entity)
    noteSource(new.id, from: old, to: new)
  }

  /// Removes a row with its links.
  private mutating func remove(_ id: ManagedObjectID) {
    guard let entity = model.entity(of: id), let old = tables[entity.index].remove(id.key) else { return }
    index.move(from: old, to: nil, of: entity)
    point(from: old, to: nil, plan: plans[entity.index])
    noteSource(id, from: old, to: nil)
    for slot in entity.toManySlots { unlinkAll(id, along: entity.properties[slot]) }
  }

  /// Updates the index of to-one relationships from destinations back to their rows.
  private mutating func point(from old: Snapshot?, to new: Snapshot?, plan: InMemoryPlan) {
    for (slot, key, list) in plan.pointers {
      let (before, after) = (old?.values[slot] ?? .null, new?.values[slot] ?? .null)
      guard before != after, let id = (new ?? old)?.id else { continue }
      if case .objectID(let destination) = before {
        if let list { orders[list]?[destination]?.remove(id, keepingOrder: true) }
        pointers[key]?[destination]?.remove(id)
        if pointers[key]?[destination]?.isEmpty == true { pointers[key]?[destination] = nil }
      }
      if case .objectID(let destination) = after {
        pointers[key, default: [:]][destination, default: []].insert(id)
      }
    }
  }

  // MARK: Links

  /// Adds or removes a link, on both sides.
  private mutating func link(_ change: StoreChanges.Links, id: ManagedObjectID, isThere: Bool) {
    guard let property = model.entity(of: change.owner)?.properties[change.slot],
      let relationship = property.relationship
    else { return }
    set(change.owner, key: property.id, id: id, isThere: isThere, isOrdered: relationship.isOrdered)
    guard let inverse = inverse(of: relationship) else { return }
    set(
      id, key: inverse.id, id: change.owner, isThere: isThere, isOrdered: inverse.relationship?.isOrdered == true)
  }

  /// Adds or removes a destination in the list of one side.
  private mutating func set(
    _ owner: ManagedObjectID, key: PropertyID, id: ManagedObjectID, isThere: Bool, isOrdered: Bool
  ) {
    if isThere {
      links[key, default: [:]][owner, default: MemberList()].append(id)
    } else {
      links[key]?[owner]?.remove(id, keepingOrder: isOrdered)
      if isOrdered { orders[key]?[owner]?.remove(id, keepingOrder: true) }
    }
    if derives, let row = row(of: owner) { noteSource(owner, from: nil, to: row) }
  }

  /// The inverse of a many-to-many relationship; nil for others.
  private func inverse(of relationship: ResolvedRelationship) -> ResolvedProperty? {
    guard relationship.isManyToMany, let slot = relationship.inverseSlot else { return nil }
    return model.destination(of: relationship).properties[slot]
  }

  /// Removes all links of an object in a relationship.
  private mutating func unlinkAll(_ id: ManagedObjectID, along property: ResolvedProperty) {
    orders[property.id]?[id] = nil
    guard let destinations = links[property.id]?.removeValue(forKey: id),
      let inverse = property.relationship.flatMap(inverse(of:))
    else { return }
    let isOrdered = inverse.relationship?.isOrdered == true
    for destination in destinations {
      set(destination, key: inverse.id, id: id, isThere: false, isOrdered: isOrdered)
    }
  }

  // MARK: Unique values

  /// The changes that a save made to the index of unique values before its rows are written.
  struct Claims {
    fileprivate var changes: [(key: UniqueKey, id: ManagedObjectID?)] = []

    init() {}
  }

  /// Assigns unique values to the rows of a save. If a value is already taken, the index is restored.
  private mutating func claimUniqueValues(of changes: StoreChanges) -> (conflicts: [SaveConflict], claims: Claims) {
    var claims = Claims()
    guard hasConstraints else { return ([], claims) }
    for id in changes.updated.map(\.snapshot.id) + changes.deleted.map(\.id) {
      guard let old = row(of: id) else { continue }
      for (_, key) in uniqueKeys(of: old) where unique[key] == id {
        claims.changes.append((key, unique.removeValue(forKey: key)))
      }
    }
    var conflicts: [SaveConflict] = []
    for row in [changes.inserted, changes.updated.rows].joined() {
      let keys = uniqueKeys(of: row)
      if let (constraint, key) = keys.first(where: { unique[$0.1] != nil }) {
        let names = constraint.slots.map { constraint.entity.properties[$0].name }
        conflicts.append(SaveConflict(row.id, .sameValues(properties: names, as: unique[key])))
        continue
      }
      for (_, key) in keys {
        claims.changes.append((key, nil))
        unique[key] = row.id
      }
    }
    if conflicts.isEmpty { return ([], claims) }
    release(claims)
    return (conflicts, Claims())
  }

  /// Restores the unique values that a save claimed.
  mutating func release(_ claims: Claims) {
    for (key, id) in claims.changes.reversed() { unique[key] = id }
  }

  /// The unique values of a row, without constraints in which a value is null.
  private func uniqueKeys(of row: Snapshot) -> [(InMemoryPlan.Constraint, UniqueKey)] {
    guard let entity = model.entity(of: row.id) else { return [] }
    return plans[entity.index].constraints.compactMap { constraint in
      let values = constraint.slots.map { row.values[$0] }
      return values.contains(.null) ? nil : (constraint, UniqueKey(constraint: constraint.number, values: values))
    }
  }
}
