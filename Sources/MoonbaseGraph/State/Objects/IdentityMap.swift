import MoonbaseModel

/// The objects of a context: a table for each entity and store, and a map from keys to objects for each root entity.
///
/// Objects are not retained: they remove themselves in their `deinit`.
final class IdentityMap {
  // As with the fields of objects, no access lasts while other code runs.
  @exclusivity(unchecked) private var tables: ContiguousArray<ObjectTable> = []
  /// A hash table whose size is a power of two and which is at most half full: indexes of tables, or -1.
  @exclusivity(unchecked) private var places = ContiguousArray<Int32>(repeating: -1, count: 8)
  /// The table of the last lookup, retained by `tables`.
  @exclusivity(unchecked) private var last: Unmanaged<ObjectTable>?
  /// Tables of objects that left the context and may outlive it.
  private var departed: ContiguousArray<ObjectTable> = []
  private var maps: [(root: EntityIndex, store: UInt32, map: KeyMap)] = []

  // MARK: Tables

  /// The table of an entity and store, or nil.
  @inline(__always)
  func table(_ kind: ManagedObjectID.Kind) -> Unmanaged<ObjectTable>? {
    if let last, last._withUnsafeGuaranteedRef({ $0.kind == kind }) { return last }
    return find(kind)
  }

  /// Looks up a table by hashing.
  @inline(never)
  private func find(_ kind: ManagedObjectID.Kind) -> Unmanaged<ObjectTable>? {
    let index = places[place(of: kind)]
    guard index >= 0 else { return nil }
    let found = Unmanaged.passUnretained(tables[Int(index)])
    last = found
    return found
  }

  private func place(of kind: ManagedObjectID.Kind) -> Int {
    var place = Int(truncatingIfNeeded: (kind.bits &* 0x9E37_79B9_7F4A_7C15) >> 32) & (places.count - 1)
    while places[place] >= 0, tables[Int(places[place])].kind != kind { place = (place + 1) & (places.count - 1) }
    return place
  }

  /// Adds the table of an entity and store.
  func add(_ kind: ManagedObjectID.Kind, entity: ResolvedEntity, context: ManagedObjectContext) -> ObjectTable {
    let table = ObjectTable(entity, kind: kind, map: map(kind, of: entity), context: context)
    tables.append(table)
    if 2 * tables.count > places.count {
      places = ContiguousArray(repeating: -1, count: 2 * places.count)
      for (index, table) in tables.enumerated() { places[place(of: table.kind)] = Int32(index) }
    } else {
      places[place(of: kind)] = Int32(tables.count - 1)
    }
    return table
  }

  private func map(_ kind: ManagedObjectID.Kind, of entity: ResolvedEntity) -> KeyMap {
    // An ID whose entity the model lacks has a map of its own.
    guard kind.entity == entity.symbol else { return KeyMap() }
    if let known = maps.first(where: { $0.root == entity.root && $0.store == kind.store }) { return known.map }
    let map = KeyMap()
    maps.append((entity.root, kind.store, map))
    return map
  }

  /// The tables of an entity.
  func tables(of entity: EntityIndex) -> some Sequence<ObjectTable> { tables.lazy.filter { $0.entity.index == entity } }

  /// Ends the pages of new rows in all tables, after changes were discarded.
  func endOwnRows() {
    for table in tables { table.endOwnRows() }
  }

  /// Sets whether the context retains its objects.
  func setRetaining(_ keepsObjects: Bool) {
    for table in tables { table.keepsObjects = keepsObjects }
  }

  /// Updates the tables after a reload of extensions.
  func adopt(_ model: ResolvedModel) {
    for table in tables { table.adopt(model.entities[table.entity.index]) }
  }

  /// The table without a context for an object that leaves the context, of the same entity and store.
  func departed(from table: ObjectTable) -> ObjectTable {
    if let known = departed.first(where: { $0.kind == table.kind && $0.entity === table.entity }) { return known }
    let new = ObjectTable(table.entity, kind: table.kind, map: table.map, context: nil)
    departed.append(new)
    return new
  }

  /// Removes all objects from the map, and passes each to `body`.
  func abandon(_ body: (ManagedObject) -> Void) {
    let maps = uniqueMaps
    for table in tables { table.abandon() }
    for table in departed { table.abandon() }
    for map in maps {
      map.forEach { $0._withUnsafeGuaranteedRef(body) }
      map.removeAll()
    }
    (tables, departed, self.maps, last) = ([], [], [], nil)
    places = ContiguousArray(repeating: -1, count: 8)
  }

  private var uniqueMaps: [KeyMap] {
    maps.map(\.map) + tables.filter { $0.kind.entity != $0.entity.symbol }.map(\.map)
  }

  // MARK: Objects

  /// The object with an ID if it is registered.
  subscript(id: ManagedObjectID) -> Unmanaged<ManagedObject>? {
    @inline(__always) get {
      guard let table = table(id.kind) else { return nil }
      return table._withUnsafeGuaranteedRef { $0.map.object(id.key, of: table) }
    }
  }

  /// The object with the key of an ID in the table of its root entity, if the object has a row. The ID may name any
  /// entity.
  func object(_ id: ManagedObjectID, inTableOf entity: ResolvedEntity) -> ManagedObject? {
    guard let map = maps.first(where: { $0.root == entity.root && $0.store == id.storeNumber })?.map,
      let object = map.object(id.key)?.takeUnretainedValue(), object.page != nil
    else { return nil }
    return object
  }

  /// The number of registered objects.
  var count: Int { uniqueMaps.reduce(0) { $0 + $1.count } }

  /// All registered objects, unordered.
  var values: [Unmanaged<ManagedObject>] { uniqueMaps.flatMap(\.values) }

  /// Removes an object, if the map contains this instance under its ID.
  func remove(_ object: ManagedObject) { object.table._withUnsafeGuaranteedRef { $0.map.remove(object) } }

  /// The violated invariants.
  var brokenInvariants: [String] {
    var broken = uniqueMaps.flatMap(\.brokenInvariants)
    for (index, table) in tables.enumerated() {
      if places[place(of: table.kind)] != index { broken.append("the table of \(table.entity.name) is not found") }
    }
    let counts = Dictionary(grouping: values) { ObjectIdentifier($0.takeUnretainedValue().table.takeUnretainedValue()) }
    for table in tables where counts[ObjectIdentifier(table)]?.count ?? 0 > table.count {
      broken.append("the table of \(table.entity.name) counts \(table.count) objects, and more are registered")
    }
    for table in departed where counts[ObjectIdentifier(table)] != nil || table.context != nil {
      broken.append("objects of \(table.entity.name) left the context and are registered")
    }
    return broken
  }
}
