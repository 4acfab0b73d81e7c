import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Compares the rows of an entity in two stores by key. No objects are created for equal rows.
///
/// Both stores are read once, in the order of keys, like two sorted files. Lists of to-many
/// relationships are compared for a chunk at a time. This is the fast way; `KeyComparison` is
/// needed if keys differ.
struct RowComparison {
  /// The slots of an entity's properties in the rows of both stores. `nil` on the left stands for a property that is
  /// new.
  private struct Layout {
    /// The attributes and to-one relationships.
    var single: [(left: Slot?, right: Slot)] = []
    /// The to-many relationships.
    var lists: [(left: Slot?, right: Slot, isOrdered: Bool)] = []
  }

  /// The rows of an object in both stores.
  private typealias Pair = (left: Snapshot, right: Snapshot)

  /// The number of pairs that are compared together.
  private static let chunk = 512
  /// The rows of the first store.
  private let left: RowStream
  /// The rows of the second store.
  private let right: RowStream
  /// The layouts by entity. The layout is nil if the values of the entity can only be read from objects.
  private var layouts: [Symbol: Layout?] = [:]

  /// Returns nil if a store does not contain the entity.
  init?(_ entity: String, from left: ManagedObjectContext, to right: ManagedObjectContext) throws {
    guard let one = try RowStream(of: entity, in: left), let other = try RowStream(of: entity, in: right) else {
      return nil
    }
    (self.left, self.right) = (one, other)
  }

  /// Passes the objects whose rows differ to the caller, and returns the objects that only one store has.
  ///
  /// Throws `.storeBusy` if a store without consistent reading was changed meanwhile.
  mutating func run(
    _ differ: ([(ManagedObjectID, ManagedObjectID)]) throws -> Void
  ) throws -> (came: IDList, went: IDList) {
    var (came, went) = (IDList(), IDList())
    var pairs: [Pair] = []
    while left.current != nil || right.current != nil {
      guard let old = left.current else {
        try Self.append(from: right, to: &came)
        continue
      }
      guard let new = right.current, old.id.key >= new.id.key else {
        try Self.append(from: left, to: &went)
        continue
      }
      if old.id.key > new.id.key {
        try Self.append(from: right, to: &came)
        continue
      }
      guard old.id.entitySymbol == new.id.entitySymbol else {
        try Self.append(from: left, to: &went)
        try Self.append(from: right, to: &came)
        continue
      }
      pairs.append((old, new))
      try left.advance()
      try right.advance()
      guard pairs.count == Self.chunk else { continue }
      try compare(pairs, differ)
      pairs.removeAll(keepingCapacity: true)
    }
    try compare(pairs, differ)
    return (came, went)
  }

  /// Adds the current row's object to a list, and proceeds.
  private static func append(from stream: RowStream, to list: inout IDList) throws {
    if let row = stream.current { list.append(row.id) }
    try stream.advance()
  }

  /// Compares pairs, and passes those that differ.
  private mutating func compare(_ pairs: [Pair], _ differ: ([(ManagedObjectID, ManagedObjectID)]) throws -> Void) throws
  {
    var isEqual: [Bool] = []
    var withLists: [Symbol: [Int]] = [:]
    for (place, pair) in pairs.enumerated() {
      try HostWork.charge()
      let symbol = pair.left.id.entitySymbol
      guard symbol == pair.right.id.entitySymbol, let layout = try layout(of: symbol) else {
        isEqual.append(false)
        continue
      }
      isEqual.append(layout.single.allSatisfy { Self.isSame(pair.left, $0.left, pair.right, $0.right) })
      if isEqual[place], !layout.lists.isEmpty { withLists[symbol, default: []].append(place) }
    }
    for (symbol, places) in withLists {
      for list in try layout(of: symbol)?.lists ?? [] {
        for place in try differing(list, places, pairs) { isEqual[place] = false }
      }
    }
    let others = zip(pairs, isEqual).filter { !$1 }.map { ($0.0.left.id, $0.0.right.id) }
    if !others.isEmpty { try differ(others) }
  }

  /// The indexes of the objects whose destinations for a relationship differ.
  private func differing(
    _ list: (left: Slot?, right: Slot, isOrdered: Bool), _ places: [Int], _ pairs: [Pair]
  ) throws -> [Int] {
    let new = try right.view.destinations(of: places.map { pairs[$0].right.id }, relationship: list.right)
    guard let slot = list.left else { return zip(places, new).filter { !$1.isEmpty }.map(\.0) }
    let old = try left.view.destinations(of: places.map { pairs[$0].left.id }, relationship: slot)
    return zip(places, zip(old, new)).filter { !Self.isSame($1.0, $1.1, isOrdered: list.isOrdered) }.map(\.0)
  }

  /// Whether two lists of destinations are equal, in order if it matters.
  private static func isSame(_ old: [ManagedObjectID], _ new: [ManagedObjectID], isOrdered: Bool) -> Bool {
    guard old.count == new.count else { return false }
    func sorted(_ ids: [ManagedObjectID]) -> [ManagedObjectID] { isOrdered ? ids : ids.sorted { $0.key < $1.key } }
    return zip(sorted(old), sorted(new)).allSatisfy(isSame)
  }

  /// Whether both IDs have the same entity name and key in their stores.
  private static func isSame(_ old: ManagedObjectID, _ new: ManagedObjectID) -> Bool {
    old.key == new.key && old.entitySymbol == new.entitySymbol
  }

  /// Whether a value is equal in both rows. A new property counts as null in the older row.
  private static func isSame(_ old: Snapshot, _ slot: Slot?, _ new: Snapshot, _ other: Slot) -> Bool {
    let right = new.rawCell(other)
    guard let slot else { return right.kind == .null }
    let left = old.rawCell(slot)
    if left.kind != .other || right.kind != .other { return left.isSame(as: right) }
    switch (old.cell(slot), new.cell(other)) {
    case (.reference(let one), .reference(let two)), (.value(.objectID(let one)), .value(.objectID(let two))):
      return isSame(one, two)
    case (.uuid(let one), .uuid(let two)): return one == two
    // Objects read bytes that are in a separate file.
    case (.value(.object), _), (_, .value(.object)): return false
    case (.value(let one), .value(let two)): return one == two
    default: return false
    }
  }

  // MARK: Properties

  /// The layout of an entity, made on demand.
  private mutating func layout(of symbol: Symbol) throws -> Layout? {
    if let known = layouts[symbol] { return known }
    let made = left.entity(of: symbol).flatMap { old in right.entity(of: symbol).flatMap { Self.layout(old, $0) } }
    layouts[symbol] = .some(made)
    return made
  }

  /// The layout of an entity; nil if a value is only known to objects.
  private static func layout(_ old: ResolvedEntity, _ new: ResolvedEntity) -> Layout? {
    var layout = Layout()
    for property in new.properties where !property.isTransient {
      let former = old.property(property.name).flatMap { $0.isTransient ? nil : $0 }
      switch property.kind {
      case .attribute(let attribute):
        guard former == nil || former?.attributeType == attribute.type else { return nil }
        layout.single.append((former?.slot, property.slot))
      case .toOne:
        guard former == nil || former?.relationship?.isToMany == false else { return nil }
        layout.single.append((former?.slot, property.slot))
      case .toMany(let relationship):
        guard relationship.isManyToMany || relationship.isOrdered else { continue }
        guard former == nil || former?.relationship?.isToMany == true else { return nil }
        layout.lists.append((former?.slot, property.slot, relationship.isOrdered))
      }
    }
    return layout
  }
}

/// The rows of an entity and of its subentities, sorted by ascending key.
///
/// The stream keeps a batch of rows in memory.
private final class RowStream {
  /// The session, which is the view of one state if possible.
  let view: any ReadSession
  /// The current row; nil at the end.
  private(set) var current: Snapshot?
  /// The model of the store.
  private let model: ResolvedModel
  /// The path of the store, for errors.
  private let name: String
  /// Nil if the store cannot be read in one consistent state. A cursor would then read all rows first.
  private let cursor: (any RowCursor)?
  /// The IDs, if there is no cursor.
  private let ids: IDList
  /// The index of the next ID to read.
  private var nextID = 0
  /// The current batch.
  private var rows: [Snapshot] = []
  /// The index of the current row in the batch.
  private var place = 0

  /// Returns nil if the store has no entity with the name.
  init?(of entity: String, in context: ManagedObjectContext) throws {
    guard let store = context.coordinator.persistentStores.first, let entity = context.model.entity(entity) else {
      return nil
    }
    (model, name) = (context.model, store.name)
    view = try store.beginReading(.view)
    let query = try store.plan(StoreQuery(entity: entity, in: model, includesSubentities: true)).query
    if view.isConsistent {
      (cursor, ids) = (try view.rows(matching: query), IDList())
    } else {
      (cursor, ids) = (nil, try view.objectIDs(matching: query).sortedByKey())
    }
    try advance()
  }

  deinit { view.end() }

  /// The entity of a row.
  func entity(of symbol: Symbol) -> ResolvedEntity? { model.entities.first { $0.symbol == symbol } }

  /// Proceeds to the next row. Throws if the keys are not ascending.
  func advance() throws {
    place += 1
    if place >= rows.count { (rows, place) = (try nextRows(), 0) }
    let next = place < rows.count ? rows[place] : nil
    if let next, let current, next.id.key <= current.id.key {
      throw GraphError(
        .storeFailure, message: "\(name): the rows do not come by their keys: compare with --by, or copy the store")
    }
    current = next
  }

  /// The next batch; empty at the end.
  private func nextRows() throws -> [Snapshot] {
    if let cursor { return Array(try cursor.next(upTo: [Snapshot].batchSize)) }
    // Rows that were deleted meanwhile are missing.
    while nextID < ids.count {
      let part = Array(ids[nextID..<min(ids.count, nextID + [Snapshot].batchSize)])
      nextID += part.count
      let rows = try view.snapshots(of: part)
      if !rows.isEmpty { return rows.sorted { $0.id.key < $1.id.key } }
    }
    return []
  }
}
