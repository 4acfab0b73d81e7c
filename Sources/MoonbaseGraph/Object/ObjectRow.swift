import MoonbaseModel

/// Where an object's values lie: in a row, and beside it.
///
/// The row is that of a store, or the object's own one, into which it writes until a save takes it (`RowPage+OwnRows.swift`): a new
/// object's, or a changed one's, which has the store's row below it. Values beside the row are others than it has. All changes are the transitions below; what an object keeps by them more than
/// before, in bytes and by estimate, they return, for the object to tell its context (`ManagedObject.weigh`).
struct ObjectRow {
  /// The page of the row; nil where there is no row.
  private(set) var page: RowPage?
  /// Values beside the row, by slot; nil where the row's holds. Empty as long as there are none. Beside a row of the object's own these
  /// are what it cannot have or cannot have yet: transient values, IDs that are temporary, and what is set when the page is sealed.
  private(set) var live: ContiguousArray<Value?> = []
  /// Of the first 64 slots, those that may differ from the row as a store has it.
  private(set) var changedLow: UInt64 = 0
  /// The place in the page.
  private(set) var place: UInt16 = 0
  /// Whether the row is the object's own: no store has it as it is.
  private(set) var isOwn = false
}

/// What is asked of it.
extension ObjectRow {
  /// The row as a store has it.
  @inline(__always)
  var snapshot: Snapshot? { isOwn ? base : inItsPage }

  /// The store's row below the object's own; nil of a new object.
  private var base: Snapshot? { page.flatMap { $0.base(of: Int(place)) } }

  /// The first 64 slots in which the object's own row has values of its own.
  private var ownSlots: UInt64 { isOwn ? page?.ownSlots(of: Int(place)) ?? 0 : 0 }

  /// Whether the row, or that below it, is at a place of a page.
  func lies(at other: Int, in page: RowPage) -> Bool {
    self.page === page && Int(place) == other || isOwn && Snapshot(unchecked: page, at: other).isIdentical(to: base)
  }

  /// Whether it is the object's own, at a place of a page.
  @inline(__always)
  func isItsOwn(at other: UInt16, in page: Unmanaged<RowPage>) -> Bool {
    isOwn && place == other && self.page.map { Unmanaged.passUnretained($0).toOpaque() } == page.toOpaque()
  }

  /// Whether the row has a value of the object's own in a slot. Those of a changed object beyond the first 64 lie beside it.
  @inline(__always)
  func owns(_ slot: Slot) -> Bool { isOwn && (slot < 64 ? ownSlots & 1 << UInt64(slot) != 0 : base == nil) }

  /// The row, whoever has it.
  @inline(__always)
  var inItsPage: Snapshot? { page.map { Snapshot(unchecked: $0, at: Int(place)) } }

  /// The bytes that all of it keeps.
  @inline(__always)  // a call would take a copy along
  var weight: Int { rowWeight &+ liveWeight }

  /// The bytes of the row: of one that is shared its share of the page, of one that the object fills what is in it.
  @inline(__always)
  private var rowWeight: Int {
    guard let page = page.map(Unmanaged.passUnretained) else { return 0 }
    return page._withUnsafeGuaranteedRef {
      isOwn ? $0.bytesKept(Int(place)) &+ $0.baseWeight(of: Int(place)) : $0.rowWeight
    }
  }

  /// Counts that its object leaves the page; whether so many have left that those which are left get another one.
  @inline(__always)
  var notesDeparture: Bool {
    page.map(Unmanaged.passUnretained)?._withUnsafeGuaranteedRef { $0.noteDeparture() } ?? false
  }

  /// The bytes of the values beside the row.
  @inline(__always)
  private var liveWeight: Int { live.isEmpty ? 0 : weightOfLive }

  private var weightOfLive: Int {
    var weight = Self.slotWeight &* live.count
    for slot in live.indices { weight &+= live[slot]?.weight ?? 0 }
    return weight
  }

  private static var slotWeight: Int { MemoryLayout<Value?>.stride }
}

/// Another row.
extension ObjectRow {
  /// The row is that at a place of a page from now on, or none. Values beside it stay.
  mutating func takePlace(_ place: Int, in page: RowPage?, owning: Bool = false) -> Int {
    let before = rowWeight
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
    isOwn = owning
    return rowWeight &- before
  }

  /// The same where there was none, and somebody counts the bytes already.
  @inline(__always)
  mutating func begin(at place: Int, in page: RowPage) {
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
  }

  /// A new object gets a row of nulls that it fills itself.
  mutating func beginOwn(key: Int64, in page: RowPage) -> Int {
    begin(at: page.addRow(key: key), in: page)
    isOwn = true
    return page.shape.stride
  }

  /// A saved object gets a row of its own with a value of its own; the store's row lies below.
  mutating func beginChange(_ value: Value, slot: Slot, in own: Unmanaged<RowPage>) -> Int {
    beginChange(in: own) { own, base in
      let new = own.addRow(over: base, but: slot)
      _ = own.replace(value, slot: slot, of: new)
      return new
    }
  }

  /// The same with what lies elsewhere, which the page takes.
  @inline(__always)
  mutating func beginChange(_ cell: RawCell, slot: Slot, in own: Unmanaged<RowPage>) -> Int {
    beginChange(in: own) { $0.addRow(over: $1, cell, slot: slot) }
  }

  @inline(__always)
  private mutating func beginChange(in own: Unmanaged<RowPage>, _ add: (RowPage, RowBase) -> Int) -> Int {
    guard !isOwn, let former = page.take() else { return 0 }
    let base = RowBase(former, at: Int(place))
    let bytes = own._withUnsafeGuaranteedRef { own in
      let before = own.filledWeight
      place = UInt16(truncatingIfNeeded: add(own, base))
      // Nothing of a new row is of no use yet.
      return own.filledWeight &- before
    }
    (page, isOwn) = (own.takeUnretainedValue(), true)
    return bytes
  }

  /// A changed object has the store's row again, and what its own one had lies beside it.
  mutating func spill(slotCount: Int) -> Int {
    guard isOwn, let page, let base else { return 0 }
    let before = weight
    var rest = ownSlots
    if rest != 0, live.isEmpty { _ = makeRoom(for: slotCount) }
    while rest != 0 {
      let slot = rest.trailingZeroBitCount
      if slot < live.count, live[slot] == nil { live[slot] = page.value(slot, of: Int(place)) }
      rest &= rest &- 1
    }
    _ = takePlace(base.place, in: base.page)
    return weight &- before
  }

  /// A slot has the value of the store's row again; true where no other one is left that has not.
  mutating func giveUp(_ slot: Slot, slotCount: Int) -> (bytes: Int, isEmpty: Bool) {
    guard isOwn, let page, base != nil, slot >= 64 || owns(slot) else { return (0, false) }
    // Values beyond the first 64 slots lie beside the row, until a save that failed put them in.
    if slot >= 64 { return (page.stage == .filling ? 0 : spill(slotCount: slotCount), false) }
    if let bytes = page.restoreBase(slot: slot, of: Int(place)) { return (bytes, ownSlots == 0) }
    var bytes = spill(slotCount: slotCount)
    if !live.isEmpty { bytes &+= setLive(nil, slot: slot) }
    return (bytes, false)
  }

  /// A changed object has the store's row again, and no other values.
  mutating func dropChange() -> Int {
    guard isOwn, let base else { return 0 }
    return takePlace(base.place, in: base.page)
  }

  /// The own row of a new object moves to another page.
  mutating func copyOwn(key: Int64, to other: RowPage) -> Int {
    guard isOwn, base == nil, let page else { return 0 }
    let new = other.addRow(key: key)
    let row = other.row(new)
    for slot in 0..<other.shape.slotCount { other.copy(page.cell(slot, of: Int(place)), slot: slot, in: row) }
    return takePlace(new, in: other, owning: true)
  }

  /// Puts back what was there before.
  mutating func restore(_ former: ObjectRow) -> Int {
    let before = weight
    self = former
    return weight &- before
  }

  /// Neither row nor values are wanted any more.
  mutating func drop() {
    if isOwn {
      page?.forgetValuesApart(of: Int(place))
      page?.forgetBase(of: Int(place))
    }
    self = ObjectRow()
  }
}

/// Other values.
extension ObjectRow {
  /// Gives the object a value of its own in a slot, which it writes into its own row if it has one.
  @inline(__always)
  mutating func setOwn(_ value: Value, slot: Slot, of table: ObjectTable) -> Int {
    if isOwn, let bytes = write(value, slot: slot, rowSlots: table.rowSlots) { return bytes }
    let room = live.isEmpty ? makeRoom(for: table.properties.count) : 0
    return room &+ setLive(value, slot: slot)
  }

  /// Writes a value into the object's own row; nil where it has to lie beside it.
  private func write(_ value: Value, slot: Slot, rowSlots: UInt64) -> Int? {
    guard let page, slot < 64, rowSlots & 1 << UInt64(slot) != 0, live.isEmpty || live[slot] == nil else { return nil }
    if case .objectID(let id) = value, id.isTemporaryID { return nil }
    return page.replace(value, slot: slot, of: Int(place))
  }

  /// A row of another object tells of a value that the store's has not: no change, and nothing to be saved.
  mutating func setRead(_ value: Value, slot: Slot, of table: ObjectTable) -> Int {
    guard isOwn, base != nil else { return setOwn(value, slot: slot, of: table) }
    let room = live.isEmpty ? makeRoom(for: table.properties.count) : 0
    return room &+ setLive(value, slot: slot)
  }

  /// Puts a value beside the row; with nil the row's holds again. There is room for values.
  @inline(__always)
  mutating func setLive(_ value: Value?, slot: Slot) -> Int {
    let bytes = (value?.weight ?? 0) &- (live[slot]?.weight ?? 0)
    live[slot] = value
    return bytes
  }

  /// Puts other values beside the row in the place of all; none at all with an empty array.
  mutating func setLive(_ values: ContiguousArray<Value?>) -> Int {
    let before = liveWeight
    live = values
    return liveWeight &- before
  }

  /// No values lie beside the row any more.
  mutating func dropLive() -> Int {
    let bytes = liveWeight
    live = []
    return -bytes
  }

  /// Makes room for values beside the row.
  @inline(never)
  mutating func makeRoom(for count: Int) -> Int {
    // Not `init(repeating:)`, which looks the type of the memory up each time.
    live.reserveCapacity(count)
    for _ in 0..<count { live.append(nil) }
    return Self.slotWeight &* count
  }

  /// One of the first 64 slots may differ from the row as a store has it.
  @inline(__always)
  mutating func markChanged(low slot: Slot) { changedLow |= 1 << UInt64(slot) }

  mutating func unmarkChanged(low slot: Slot) { changedLow &= ~(1 << UInt64(slot)) }

  mutating func setChanged(low slots: UInt64) { changedLow = slots }
}

/// A save.
extension ObjectRow {
  /// The object's own row becomes the one that is saved: with key and version, and with what lies on top of it, which stays there too, for the
  /// save may fail. Returns the bytes that it keeps more; nil where the row cannot be written any more.
  func complete(under key: Int64, version: Int64, of table: ObjectTable) -> Int? {
    guard isOwn, let page = page.map(Unmanaged.passUnretained) else { return nil }
    return page._withUnsafeGuaranteedRef { page in
      guard page.stage == .completing else { return nil }
      page.complete(Int(place), key: key, version: version)
      if live.isEmpty { return 0 }
      var bytes = 0
      for slot in live.indices where table.hasCell(slot) {
        if let value = live[slot] { bytes &+= page.complete(Int(place), value, slot: slot) }
      }
      return bytes
    }
  }

  /// Such a row leads to an object, whatever ID it had before. Returns the bytes that it keeps more.
  func complete(leadingTo id: ManagedObjectID, slot: Slot) -> Int {
    guard let page, !page.cell(slot, of: Int(place)).isSame(as: .objectID(id)) else { return 0 }
    return page.complete(Int(place), .objectID(id), slot: slot)
  }

  /// The object's own row, which a save completed, is that of the store from now on, and there is nothing beside it. Returns the bytes that
  /// the object keeps more.
  mutating func keepCompleted() -> Int {
    (isOwn, changedLow) = (false, 0)
    guard let page = page.map(Unmanaged.passUnretained) else { return 0 }
    return page._withUnsafeGuaranteedRef { page in
      page.rowWeight &- page.bytesKept(Int(place)) &- page.baseWeight(of: Int(place))
    }
  }
}
