import MoonbaseModel

/// What the objects of one entity in one store share within a context: entity, store, context, and how their plain values are read.
///
/// Objects point at their table without retaining it, which would cost a count at each object that comes or goes. Tables belong
/// to the context's identity map; one that objects still point at when the context lets it go keeps itself until the last of
/// them goes (`abandon`).
final class ObjectTable {
  /// The properties of rows, which no reload of extensions changes.
  let properties: [ResolvedProperty]
  /// Store and entity of the objects' IDs.
  let kind: ManagedObjectID.Kind
  /// The objects of the root entity in the store, by key.
  let map: KeyMap
  /// Of the first 64 slots, those that a row has.
  let rowSlots: UInt64

  // As with the fields of objects: no access lasts while other code runs.

  /// The entity, with what extensions of now add. Who looks a name up at each access does so without retaining it.
  @exclusivity(unchecked) private var entityReference: Unmanaged<ResolvedEntity>
  /// Keeps the entity.
  private var ownEntity: ResolvedEntity
  /// Nil for objects that are in no context any more. The context clears it when it goes.
  @exclusivity(unchecked) private(set) var contextReference: Unmanaged<ManagedObjectContext>?
  /// Of the first 64 slots, those to which nothing special happens; none as long as the behavior is not known, and without a context.
  @exclusivity(unchecked) private(set) var simpleSlots: UInt64 = 0
  /// Of the first 64 slots, those of derived attributes whose values can be read from the cache. Empty as long as
  /// `simpleSlots` is empty.
  @exclusivity(unchecked) private(set) var derivedSlots: UInt64 = 0
  /// Of the first 64 slots what each takes without a question: the kind of cell that its attribute's type has where it is simple and
  /// lies in rows, and otherwise none.
  private let takenKinds: UnsafeMutablePointer<UInt8>
  private static let noKind = UInt8.max
  /// Whether nothing happens when a fault's row is looked at first; false as long as the behavior is not known.
  @exclusivity(unchecked) private(set) var wakesQuietly = false
  /// Whether the context keeps the objects (`retainsRegisteredObjects`).
  @exclusivity(unchecked) var keepsObjects = false
  /// The class of the objects; nil as long as the behavior is not known.
  @exclusivity(unchecked) var objectClass: ManagedObject.Type?
  /// The page that takes the rows of new or changed objects, until a save takes it.
  @exclusivity(unchecked) private var ownRows: RowPage?
  /// How many objects point here, registered or not.
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
    takenKinds = .allocate(capacity: 64)
    takenKinds.initialize(repeating: Self.noKind, count: 64)
  }

  deinit { takenKinds.deallocate() }

  var entity: ResolvedEntity { entityReference._withUnsafeGuaranteedRef { $0 } }

  /// The slot of a property by its interned name.
  @inline(__always)
  func slot(_ symbol: Symbol) -> Slot? { entityReference._withUnsafeGuaranteedRef { $0.slot(symbol) } }

  @inline(__always)
  var context: ManagedObjectContext? { contextReference?.takeUnretainedValue() }

  /// What the objects' behavior means for those that read them.
  func take(_ behavior: EntityBehavior) {
    // Where each use is looked at, no slot is simple.
    guard context?.confinement == nil else { return }
    simpleSlots = behavior.simpleSlots.low
    derivedSlots = behavior.derivedSlots.low
    wakesQuietly = !behavior.hasAwakeFromFetch && context?.greatestAge == nil
    for property in properties.prefix(64) where simpleSlots & rowSlots & 1 << UInt64(property.slot) != 0 {
      takenKinds[property.slot] = property.attributeType.flatMap(RawCell.kind(takenBy:))?.rawValue ?? Self.noKind
    }
  }

  /// Extensions were reloaded: the entity is the same one, with what these add.
  func take(_ reloaded: ResolvedEntity) {
    (ownEntity, entityReference) = (reloaded, .passUnretained(reloaded))
    forgetBehavior()
  }

  /// How the objects behave is to be asked anew.
  private func forgetBehavior() {
    (simpleSlots, derivedSlots, wakesQuietly, objectClass) = (0, 0, false, nil)
    takenKinds.update(repeating: Self.noKind, count: 64)
  }

  /// Whether what lies elsewhere can be put into a slot as it is, with nothing to check and nothing that happens.
  @inline(__always)
  func takes(_ cell: RawCell, _ slot: Slot) -> Bool {
    slot < 64 && takenKinds[slot] == cell.kind.rawValue
      && (cell.kind != .double && cell.kind != .date || cell.double.isFinite)
  }

  /// Whether rows have a cell for the values of a slot.
  @inline(__always)
  func hasCell(_ slot: Slot) -> Bool {
    slot < 64 ? rowSlots & 1 << UInt64(slot) != 0 : slot < properties.count && !properties[slot].isTransient
  }

  func id(_ key: Int64) -> ManagedObjectID { ManagedObjectID(kind, key: key) }

  @inline(__always)
  func retainForObject() { count &+= 1 }

  /// The page that takes a row of an object's own.
  @inline(__always)
  func pageForOwnRow() -> Unmanaged<RowPage> {
    if let page = ownRows.map(Unmanaged.passUnretained),
      page._withUnsafeGuaranteedRef({ !$0.isFull && $0.stage == .filling })
    {
      return page
    }
    return .passUnretained(makePage())
  }

  /// Pages begin small and grow, so that a few rows take little room.
  private static let firstCapacity = 8
  private static let greatestFirstTail = 1 << 16

  @inline(never)  // once for each page
  private func makePage() -> RowPage {
    context?.copyRowsOfSparsePages()
    // Rows that moved there have made one.
    if let ownRows, !ownRows.isFull, ownRows.stage == .filling { return ownRows }
    let former = ownRows.flatMap { $0.isFull ? $0 : nil }
    let page = RowPage(
      StoreNumber(rawValue: kind.store), entity: entity.symbol, slotCount: properties.count,
      capacity: former.map { 4 * $0.capacity } ?? Self.firstCapacity, isReadMeanwhile: true)
    // The rows of an entity mostly take about as much text as those before them. Of long ones there may come only a few.
    if let former {
      page.reserveTail(min(former.tailCount / former.count * page.capacity / 8 * 9, Self.greatestFirstTail))
    }
    ownRows = page
    return page
  }

  /// No more objects write their rows into the page.
  func endOwnRows() { ownRows = nil }

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

  /// The context lets the table go.
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
