import MoonbaseModel

/// The shared state of the objects of one entity and store in a context: entity, context, and access to simple slots.
///
/// Objects refer to their table without retaining it, because a retain count would have to change for each object made
/// or released. Tables belong to the context's identity map. A table that still has objects when the context releases
/// it retains itself until the last object is released (`abandon`).
final class ObjectTable {
  /// The properties of rows, which a reload of extensions does not change.
  let properties: [ResolvedProperty]
  /// Store and entity of the objects' IDs.
  let kind: ManagedObjectID.Kind
  /// The objects of the root entity in the store, by key.
  let map: KeyMap
  /// The slots with a column in rows, among the first 64.
  let rowSlots: UInt64

  // As with the fields of objects, no access lasts while other code runs.

  /// The entity, including attributes that the current extensions add; unretained, for lookups at each access.
  @exclusivity(unchecked) private var entityReference: Unmanaged<ResolvedEntity>
  /// Retains the entity.
  private var ownEntity: ResolvedEntity
  /// The context; nil if the objects left their context. The context clears this in its `deinit`.
  @exclusivity(unchecked) private(set) var contextReference: Unmanaged<ManagedObjectContext>?
  /// The simple slots among the first 64; none while the behavior is unknown, and without a context.
  @exclusivity(unchecked) private(set) var simpleSlots: UInt64 = 0
  /// The slots of derived attributes among the first 64 that may be read from the cache. Empty if `simpleSlots` is
  /// empty.
  @exclusivity(unchecked) private(set) var derivedSlots: UInt64 = 0
  /// For the first 64 slots, the kind of cell that may be assigned without a check; none unless the slot is simple and
  /// in rows.
  private let assignableKinds: UnsafeMutablePointer<UInt8>
  private static let noKind = UInt8.max
  /// Whether a fault fires without a hook or a check of its age; false while the behavior is unknown.
  @exclusivity(unchecked) private(set) var firesWithoutHooks = false
  /// Whether the context retains the objects (`retainsRegisteredObjects`).
  @exclusivity(unchecked) var keepsObjects = false
  /// The class of the objects; nil while the behavior is unknown.
  @exclusivity(unchecked) var objectClass: ManagedObject.Type?
  /// The page for rows of new or changed objects, until a save adopts it.
  @exclusivity(unchecked) private var ownRows: RowPage?
  /// The number of objects that refer to the table, registered or not.
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var keepsItself = false

  init(_ entity: ResolvedEntity, kind: ManagedObjectID.Kind, map: KeyMap, context: ManagedObjectContext?) {
    (ownEntity, entityReference, self.kind, self.map) = (entity, .passUnretained(entity), kind, map)
    properties = entity.properties
    contextReference = context.map { .passUnretained($0) }
    rowSlots = entity.properties.prefix(64).reduce(0) { slots, property in
      if case .toMany = property.kind { return slots }
      return property.isTransient ? slots : slots | 1 << UInt64(property.slot)
    }
    assignableKinds = .allocate(capacity: 64)
    assignableKinds.initialize(repeating: Self.noKind, count: 64)
  }

  deinit { assignableKinds.deallocate() }

  /// The entity, including attributes that the current extensions add.
  var entity: ResolvedEntity { entityReference._withUnsafeGuaranteedRef { $0 } }

  /// The slot of a property by its interned name.
  @inline(__always)
  func slot(_ symbol: Symbol) -> Slot? { entityReference._withUnsafeGuaranteedRef { $0.slot(symbol) } }

  /// The context; nil if the objects left their context.
  @inline(__always)
  var context: ManagedObjectContext? { contextReference?.takeUnretainedValue() }

  /// Derives the fast paths from the objects' behavior.
  func adopt(_ behavior: EntityBehavior) {
    // If each use is checked, no slot has a fast path.
    guard context?.lifetime.confinement == nil else { return }
    simpleSlots = behavior.simpleSlots.low
    derivedSlots = behavior.derivedSlots.low
    firesWithoutHooks = !behavior.hasAwakeFromFetch && context?.greatestAge == nil
    for property in properties.prefix(64) where simpleSlots & rowSlots & 1 << UInt64(property.slot) != 0 {
      assignableKinds[property.slot] = property.attributeType.flatMap(RawCell.kind(takenBy:))?.rawValue ?? Self.noKind
    }
  }

  /// Adopts the entity after a reload of extensions, which may have added attributes.
  func adopt(_ reloaded: ResolvedEntity) {
    (ownEntity, entityReference) = (reloaded, .passUnretained(reloaded))
    forgetBehavior()
  }

  /// Clears the fast paths until the behavior is known again.
  private func forgetBehavior() {
    (simpleSlots, derivedSlots, firesWithoutHooks, objectClass) = (0, 0, false, nil)
    assignableKinds.update(repeating: Self.noKind, count: 64)
  }

  /// Whether a cell may be assigned to a slot without a check or side effect.
  @inline(__always)
  func accepts(_ cell: RawCell, _ slot: Slot) -> Bool {
    slot < 64 && assignableKinds[slot] == cell.kind.rawValue
      && (cell.kind != .double && cell.kind != .date || cell.double.isFinite)
  }

  /// Whether rows have a column for a slot.
  @inline(__always)
  func hasCell(_ slot: Slot) -> Bool {
    slot < 64 ? rowSlots & 1 << UInt64(slot) != 0 : slot < properties.count && !properties[slot].isTransient
  }

  /// The ID with a key in this table.
  func id(_ key: Int64) -> ManagedObjectID { ManagedObjectID(kind, key: key) }

  /// Counts an object more.
  @inline(__always)
  func retainForObject() { count &+= 1 }

  /// The page in which an object may write its own row.
  @inline(__always)
  func pageForOwnRow() -> Unmanaged<RowPage> {
    if let page = ownRows.map(Unmanaged.passUnretained),
      page._withUnsafeGuaranteedRef({ !$0.isFull && $0.isFilling })
    {
      return page
    }
    return .passUnretained(makePage())
  }

  /// Pages start small and grow, so that a few rows take little memory.
  private static let firstCapacity = 8
  private static let greatestFirstTail = 1 << 16

  @inline(never)  // once for each page
  private func makePage() -> RowPage {
    context?.copyRowsOfSparsePages()
    // Copying rows of sparse pages may have made a page.
    if let ownRows, !ownRows.isFull, ownRows.isFilling { return ownRows }
    let former = ownRows.flatMap { $0.isFull ? $0 : nil }
    let page = RowPage(
      StoreNumber(rawValue: kind.store), entity: entity.symbol, slotCount: properties.count,
      capacity: former.map { 4 * $0.capacity } ?? Self.firstCapacity, keepsAddresses: true)
    // Rows of an entity mostly have texts of similar length. Of rows with long texts there may be few.
    if let former {
      page.reserveTail(min(former.tailCount / former.count * page.capacity / 8 * 9, Self.greatestFirstTail))
    }
    ownRows = page
    return page
  }

  /// Ends the current page for own rows.
  func endOwnRows() { ownRows = nil }

  /// Counts an object less. The last object releases a table without a context.
  @inline(__always)
  func releaseForObject() {
    count &-= 1
    if count == 0, keepsItself { releaseItself() }
  }

  @inline(never)
  private func releaseItself() {
    keepsItself = false
    Unmanaged.passUnretained(self).release()
  }

  /// Detaches the table from its context.
  func abandon() {
    contextReference = nil
    keepsObjects = false
    ownRows = nil
    forgetBehavior()
    guard count > 0, !keepsItself else { return }
    keepsItself = true
    _ = Unmanaged.passRetained(self)
  }
}
