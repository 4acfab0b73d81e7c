import MoonbaseModel

/// The storage of an object's values: a row in a page, and values beside the row.
///
/// The row is a store's row, or the object's own row, into which the object writes until a save adopts it
/// (`RowPage+OwnRows.swift`). A new object has an own row; a changed object has one above the store's row. A value
/// beside the row overrides the row's value. All changes are the transitions below. Each returns the estimated growth
/// in bytes, which the object reports to its context (`ManagedObject.weigh`).
struct ObjectRow {
  /// The page of the row; nil without a row.
  private(set) var page: RowPage?
  /// Values beside the row, by slot, which override the row's values; empty if there are none.
  ///
  /// Beside an own row these are values that it cannot contain, or not yet: transient values, temporary IDs, and values
  /// that are set after the page was sealed.
  private(set) var live: ContiguousArray<Value?> = []
  /// The slots among the first 64 that may differ from the store's row.
  private(set) var changedLow: UInt64 = 0
  /// The row's position in the page.
  private(set) var place: UInt16 = 0
  /// Whether the row is the object's own, which no store has in this form.
  private(set) var isOwn = false
}

/// Access to the row.
extension ObjectRow {
  /// The store's row, if there is one.
  @inline(__always)
  var snapshot: Snapshot? { isOwn ? base : inItsPage }

  /// The store's row below the own row; nil for a new object.
  private var base: Snapshot? { page.flatMap { $0.base(of: Int(place)) } }

  /// The slots among the first 64 for which the own row has its own values.
  private var ownSlots: UInt64 { isOwn ? page?.ownSlots(of: Int(place)) ?? 0 : 0 }

  /// Whether the row, or the store's row below it, is at a position of a page.
  func lies(at other: Int, in page: RowPage) -> Bool {
    self.page === page && Int(place) == other || isOwn && Snapshot(unchecked: page, at: other).isIdentical(to: base)
  }

  /// Whether the row is an own row at a position of a page.
  @inline(__always)
  func isItsOwn(at other: UInt16, in page: Unmanaged<RowPage>) -> Bool {
    isOwn && place == other && self.page.map { Unmanaged.passUnretained($0).toOpaque() } == page.toOpaque()
  }

  /// Whether the own row has its own value in a slot. A changed object's values from slot 64 on are beside the row.
  @inline(__always)
  func owns(_ slot: Slot) -> Bool { isOwn && (slot < 64 ? ownSlots & 1 << UInt64(slot) != 0 : base == nil) }

  /// The row in its page, a store's or an own row.
  @inline(__always)
  var inItsPage: Snapshot? { page.map { Snapshot(unchecked: $0, at: Int(place)) } }

  /// An estimate of the bytes of the row and of the values beside it.
  @inline(__always)  // avoids a copy for the call
  var weight: Int { rowWeight &+ liveWeight }

  /// The bytes of the row: for a store's row its share of the page, for an own row its contents.
  @inline(__always)
  private var rowWeight: Int {
    guard let page = page.map(Unmanaged.passUnretained) else { return 0 }
    return page._withUnsafeGuaranteedRef {
      isOwn ? $0.bytesKept(Int(place)) &+ $0.baseWeight(of: Int(place)) : $0.rowWeight
    }
  }

  /// Counts the object as leaving the page; returns whether so few are left that their rows should be copied.
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

/// Replacing the row.
extension ObjectRow {
  /// Replaces the row by a row at a position of a page, or removes it. Values beside the row stay.
  mutating func setLocation(_ place: Int, in page: RowPage?, owning: Bool = false) -> Int {
    let before = rowWeight
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
    isOwn = owning
    return rowWeight &- before
  }

  /// Sets the row of an object without a row; the caller counts the bytes.
  @inline(__always)
  mutating func begin(at place: Int, in page: RowPage) {
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
  }

  /// Gives a new object an own row of nulls.
  mutating func beginOwn(key: Int64, in page: RowPage) -> Int {
    begin(at: page.addRow(key: key), in: page)
    isOwn = true
    return page.shape.stride
  }

  /// Gives a saved object an own row with one value, above the store's row.
  mutating func beginChange(_ value: Value, slot: Slot, in own: Unmanaged<RowPage>) -> Int {
    beginChange(in: own) { own, base in
      let new = own.addRow(over: base, but: slot)
      _ = own.replace(value, slot: slot, of: new)
      return new
    }
  }

  /// Gives a saved object an own row with a cell that the page accepts, above the store's row.
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
      // A new row has no unused bytes yet.
      return own.filledWeight &- before
    }
    (page, isOwn) = (own.takeUnretainedValue(), true)
    return bytes
  }

  /// Restores the store's row of a changed object, with the own row's values beside it.
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
    _ = setLocation(base.place, in: base.page)
    return weight &- before
  }

  /// Restores the store's value in a slot; `isEmpty` is true if the own row has no other values left.
  mutating func removeValue(_ slot: Slot, slotCount: Int) -> (bytes: Int, isEmpty: Bool) {
    guard isOwn, let page, base != nil, slot >= 64 || owns(slot) else { return (0, false) }
    // Values from slot 64 on are beside the row, unless a failed save put them in.
    if slot >= 64 { return (page.isFilling ? 0 : spill(slotCount: slotCount), false) }
    if let bytes = page.restoreBase(slot: slot, of: Int(place)) { return (bytes, ownSlots == 0) }
    var bytes = spill(slotCount: slotCount)
    if !live.isEmpty { bytes &+= setLive(nil, slot: slot) }
    return (bytes, false)
  }

  /// Restores the store's row of a changed object, without the own row's values.
  mutating func dropChange() -> Int {
    guard isOwn, let base else { return 0 }
    return setLocation(base.place, in: base.page)
  }

  /// Copies the own row of a new object into another page.
  mutating func copyOwn(key: Int64, to other: RowPage) -> Int {
    guard isOwn, base == nil, let page else { return 0 }
    let new = other.addRow(key: key)
    let row = other.row(new)
    for slot in 0..<other.shape.slotCount { other.copy(page.cell(slot, of: Int(place)), slot: slot, in: row) }
    return setLocation(new, in: other, owning: true)
  }

  /// Restores a former state.
  mutating func restore(_ former: ObjectRow) -> Int {
    let before = weight
    self = former
    return weight &- before
  }

  /// Releases the row and all values.
  mutating func drop() {
    if isOwn {
      page?.forgetValuesApart(of: Int(place))
      page?.forgetBase(of: Int(place))
    }
    self = ObjectRow()
  }
}

/// Setting values.
extension ObjectRow {
  /// Sets the object's own value in a slot, in the own row if there is one.
  @inline(__always)
  mutating func setOwn(_ value: Value, slot: Slot, of table: ObjectTable) -> Int {
    if isOwn, let bytes = write(value, slot: slot, rowSlots: table.rowSlots) { return bytes }
    let room = live.isEmpty ? makeRoom(for: table.properties.count) : 0
    return room &+ setLive(value, slot: slot)
  }

  /// Writes a value into the own row; returns nil if the value has to be beside the row.
  private func write(_ value: Value, slot: Slot, rowSlots: UInt64) -> Int? {
    guard let page, slot < 64, rowSlots & 1 << UInt64(slot) != 0, live.isEmpty || live[slot] == nil else { return nil }
    if case .objectID(let id) = value, id.isTemporaryID { return nil }
    return page.replace(value, slot: slot, of: Int(place))
  }

  /// Sets a value that another object's row implies; this is no change and nothing to save.
  mutating func setRead(_ value: Value, slot: Slot, of table: ObjectTable) -> Int {
    guard isOwn, base != nil else { return setOwn(value, slot: slot, of: table) }
    let room = live.isEmpty ? makeRoom(for: table.properties.count) : 0
    return room &+ setLive(value, slot: slot)
  }

  /// Sets a value beside the row, for which there is room; with nil the row's value applies.
  @inline(__always)
  mutating func setLive(_ value: Value?, slot: Slot) -> Int {
    let bytes = (value?.weight ?? 0) &- (live[slot]?.weight ?? 0)
    live[slot] = value
    return bytes
  }

  /// Replaces all values beside the row; an empty array removes them.
  mutating func setLive(_ values: ContiguousArray<Value?>) -> Int {
    let before = liveWeight
    live = values
    return liveWeight &- before
  }

  /// Removes all values beside the row.
  mutating func dropLive() -> Int {
    let bytes = liveWeight
    live = []
    return -bytes
  }

  /// Makes room for values beside the row.
  @inline(never)
  mutating func makeRoom(for count: Int) -> Int {
    // Faster than `init(repeating:)`, which looks up type metadata at each call.
    live.reserveCapacity(count)
    for _ in 0..<count { live.append(nil) }
    return Self.slotWeight &* count
  }

  /// Marks one of the first 64 slots as changed.
  @inline(__always)
  mutating func markChanged(low slot: Slot) { changedLow |= 1 << UInt64(slot) }

  /// Clears the mark of one of the first 64 slots.
  mutating func unmarkChanged(low slot: Slot) { changedLow &= ~(1 << UInt64(slot)) }

  /// Replaces the marks of the first 64 slots.
  mutating func setChanged(low slots: UInt64) { changedLow = slots }
}

/// Transitions of saves.
extension ObjectRow {
  /// Completes the own row for a save, with key, version and the values beside it. Returns the growth in bytes.
  ///
  /// The values beside the row stay there as well, because the save may fail. Nil if the row cannot be written any
  /// more.
  func complete(under key: Int64, version: Int64, of table: ObjectTable) -> Int? {
    guard isOwn, let page = page.map(Unmanaged.passUnretained) else { return nil }
    return page._withUnsafeGuaranteedRef { page in
      guard page.isCompleting else { return nil }
      page.complete(Int(place), key: key, version: version)
      if live.isEmpty { return 0 }
      var bytes = 0
      for slot in live.indices where table.hasCell(slot) {
        if let value = live[slot] { bytes &+= page.complete(Int(place), value, slot: slot) }
      }
      return bytes
    }
  }

  /// Sets a destination in a completed row to its permanent ID. Returns the growth in bytes.
  func complete(leadingTo id: ManagedObjectID, slot: Slot) -> Int {
    guard let page, !page.cell(slot, of: Int(place)).isSame(as: .objectID(id)) else { return 0 }
    return page.complete(Int(place), .objectID(id), slot: slot)
  }

  /// Turns the completed own row into the store's row, after a save without values beside it. Returns the growth in
  /// bytes.
  mutating func keepCompleted() -> Int {
    (isOwn, changedLow) = (false, 0)
    guard let page = page.map(Unmanaged.passUnretained) else { return 0 }
    return page._withUnsafeGuaranteedRef { page in
      page.rowWeight &- page.bytesKept(Int(place)) &- page.baseWeight(of: Int(place))
    }
  }
}
