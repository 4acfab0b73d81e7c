public import MoonbaseModel
public import MoonbasePlatform

/// Pages that new and changed objects fill. Each object writes the cells of its own row, any number of times, and a
/// save completes the rows in place. The row of a changed object refers to the store's row as its base.
///
/// Bytes that other code may be reading never change: new text and data are appended to the tail. The number of bytes
/// wasted by this is bounded. A value that cannot be written into its cell is refused, and the object keeps the value
/// outside the row.
extension RowPage {
  /// Adds a row of nulls and returns its place.
  package func addRow(key: Int64) -> Int {
    _ = beginRow(key: key, version: 0)
    endRow()
    return count &- 1
  }

  /// Adds a row over a base row, with the base's values except for one slot, which the caller sets. Returns its place.
  package func addRow(over base: RowBase, but slot: Slot) -> Int {
    base.page._withUnsafeGuaranteedRef { page in
      let row = beginRow(key: page.key(base.place), version: page.version(base.place))
      copy(Snapshot(unchecked: page, at: base.place), but: SlotSet(low: 1 << UInt64(slot), high: []), in: row)
    }
    return endRow(over: base, but: slot)
  }

  /// Adds a row over a base row with new content in one slot, without making a `Value` (see `fits`). Returns its
  /// place.
  package func addRow(over base: RowBase, _ new: RawCell, slot: Slot) -> Int {
    base.page._withUnsafeGuaranteedRef { page in
      guard page.shape == shape else {
        let added = addRow(over: base, but: slot)
        put(new, slot: slot, in: row(added))
        return added
      }
      let row = nextRow
      row.copyMemory(from: page.row(base.place), byteCount: shape.stride)
      put(RawCell(.null), slot: slot, in: row)
      moveIn(row, from: page, at: base.place)
      put(new, slot: slot, in: row)
      return endRow(over: base, but: slot)
    }
  }

  /// Completes a row with its base.
  @inline(__always)
  private func endRow(over base: RowBase, but slot: Slot) -> Int {
    let bases = bases ?? makeBases()
    bases[count] = Below(base: base, ownSlots: 1 << UInt64(slot))
    endRow()
    return count &- 1
  }

  /// The base row; nil for a row that is in no store yet.
  @inlinable
  @inline(__always)
  package func base(of place: Int) -> Snapshot? {
    guard let base = bases?[place].base else { return nil }
    return Snapshot(unchecked: base.page.takeUnretainedValue(), at: base.place)
  }

  /// The estimated bytes that the base row keeps in memory.
  @inlinable
  @inline(__always)
  package func baseWeight(of place: Int) -> Int {
    bases?[place].base?.page._withUnsafeGuaranteedRef { $0.rowWeight } ?? 0
  }

  /// The slots (of the first 64) in which a row differs from its base; all for a row without a base.
  @inlinable
  @inline(__always)
  package func ownSlots(of place: Int) -> UInt64 { bases?[place].ownSlots ?? .max }

  @inlinable
  @inline(__always)
  func noteOwn(_ slot: Slot, of place: Int) { bases?[place].ownSlots |= 1 << UInt64(slot) }

  /// Allocates the bases.
  @inline(never)  // called once for each page
  private func makeBases() -> UnsafeMutablePointer<Below> {
    let new = UnsafeMutablePointer<Below>.allocate(capacity: capacity)
    new.initialize(repeating: Below(), count: capacity)
    bases = new
    return new
  }

  /// Resets a slot to the base row's value. Returns the estimated number of bytes by which the row grows; nil, without
  /// a change, if the cell cannot be changed.
  package func restoreBase(slot: Slot, of place: Int) -> Int? {
    guard stage == .filling, let base = base(of: place) else { return nil }
    let row = row(place)
    let former = bytesKept(slot, of: row)
    guard row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) != CellKind.apart, former == 0 || mayWaste(former)
    else { return nil }
    copy(base.cell(slot), slot: slot, in: row)
    bases?[place].ownSlots &= ~(1 << UInt64(slot))
    return bytesKept(slot, of: row) &- former
  }

  /// Releases the base of a row.
  package func forgetBase(of place: Int) { bases?[place].forgetBase() }

  /// Releases the bases of all rows, after a save.
  package func forgetBases() {
    guard let bases else { return }
    for place in 0..<count { bases[place].forgetBase() }
    bases.deallocate()
    self.bases = nil
  }

  /// Replaces the value of a slot. Returns the estimated number of bytes by which the row grows; nil, without a change,
  /// if the cell cannot be changed.
  package func replace(_ value: Value, slot: Slot, of place: Int) -> Int? {
    guard stage == .filling else { return nil }
    let row = row(place)
    let kind = row.load(fromByteOffset: shape.kind(slot), as: UInt8.self)
    let former = bytesKept(by: kind, in: row + shape.cell(slot))
    if kind == CellKind.apart {
      guard replace(apart: (row + shape.cell(slot)).load(as: Int.self), by: value, slot: slot, in: row) else {
        return nil
      }
    } else {
      guard former == 0 || mayWaste(former) else { return nil }
      set(value, slot: slot, in: row)
    }
    noteOwn(slot, of: place)
    return bytesKept(slot, of: row) &- former
  }

  /// Whether content can be written into a cell without making a `Value`.
  @inlinable
  package static func fits(_ new: RawCell) -> Bool { new.length <= longest && new.kind != .other }

  /// Replaces the content of a slot without making a `Value`. Returns nil also if the content would have to be stored
  /// separately.
  package func replace(_ new: RawCell, slot: Slot, of place: Int) -> Int? {
    guard stage == .filling, Self.fits(new) else { return nil }
    let row = row(place)
    let kind = row.load(fromByteOffset: shape.kind(slot), as: UInt8.self)
    let former = bytesKept(by: kind, in: row + shape.cell(slot))
    guard kind != CellKind.apart, former == 0 || mayWaste(former) else { return nil }
    put(new, slot: slot, in: row)
    noteOwn(slot, of: place)
    return bytesKept(slot, of: row) &- former
  }

  /// Writes content into a cell, whatever the cell holds.
  @inline(__always)
  private func put(_ new: RawCell, slot: Slot, in row: UnsafeMutableRawPointer) {
    switch new.kind {
    case .null, .other: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool, .int, .double, .date: shape.put(new.word, new.kind.rawValue, slot: slot, in: row)
    case .text: set(text: new.bytes, slot: slot, in: row)
    case .data: set(data: new.bytes, slot: slot, in: row)
    }
  }

  /// The result of `overwrite`.
  @usableFromInline
  package enum Overwriting {
    /// Nothing changed; the caller must use `replace`.
    case refused
    /// Nothing changed: the cell already has this content.
    case same
    /// The row grew by this number of bytes.
    case done(bytes: Int)
  }

  /// Overwrites the content of a cell with content of the same kind, if that takes only a few words and no allocation.
  @inlinable
  @inline(__always)
  package func overwrite(_ new: RawCell, slot: Slot, of place: Int) -> Overwriting {
    let row = row(place)
    guard row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) == new.kind.rawValue, stage == .filling else {
      return .refused
    }
    let cell = row + shape.cell(slot)
    var bytes = 0
    switch new.kind {
    case .bool, .int:
      if cell.load(as: UInt64.self) == new.word { return .same }
      cell.storeBytes(of: new.word, as: UInt64.self)
    case .double, .date:
      if cell.load(as: Double.self) == new.double { return .same }
      cell.storeBytes(of: new.word, as: UInt64.self)
    case .text, .data:
      guard let tail, let source = new.bytes.baseAddress, new.length <= Self.longest else { return .refused }
      let (start, length) = (cell.load(as: UInt32.self), Int(cell.load(fromByteOffset: 4, as: UInt32.self)))
      if length == new.length, memcmp(tail + Int(start), source, length) == 0 { return .same }
      let end = tailCount &+ new.length
      guard end <= tailRoom, mayWaste(length) else { return .refused }
      (tail + tailCount).copyMemory(from: source, byteCount: new.length)
      cell.storeBytes(of: UInt64(tailCount) | UInt64(new.length) << 32, as: UInt64.self)
      tailCount = end
      bytes = new.length &- length
    case .null, .other: return .refused
    }
    noteOwn(slot, of: place)
    return .done(bytes: bytes)
  }

  /// Replaces a separately stored value. Readers have their own copy of it.
  private func replace(apart index: Int, by value: Value, slot: Slot, in row: UnsafeMutableRawPointer) -> Bool {
    let liesApart = Self.liesApart(value)
    guard liesApart || mayWaste(Self.weight(apart: .null)) else { return false }
    let new = liesApart ? value : .null
    apartWeight &+= Self.weight(apart: new) &- Self.weight(apart: apart[index])
    apart[index] = new
    if !liesApart { set(value, slot: slot, in: row) }
    return true
  }

  /// Releases the separately stored values of a row that is no longer read, before the page is released.
  package func forgetValuesApart(of place: Int) {
    guard stage == .filling, !apart.isEmpty else { return }
    let row = row(place)
    for slot in 0..<shape.slotCount
    where row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) == CellKind.apart {
      let index = (row + shape.cell(slot)).load(as: Int.self)
      apartWeight &+= Self.weight(apart: .null) &- Self.weight(apart: apart[index])
      apart[index] = .null
    }
  }

  /// Counts bytes as wasted; returns false, without counting them, if the bound would be exceeded.
  @inlinable
  @inline(__always)
  func mayWaste(_ bytes: Int) -> Bool {
    guard waste &+ bytes <= tailCount / 2 &+ 16 &* capacity else { return false }
    waste &+= bytes
    return true
  }

  /// The estimated bytes of a row.
  package func bytesKept(_ place: Int) -> Int {
    let row = row(place)
    var bytes = shape.stride
    for slot in 0..<shape.slotCount { bytes &+= bytesKept(slot, of: row) }
    return bytes
  }

  /// The bytes that a slot's content takes outside its cell.
  @inline(__always)
  private func bytesKept(_ slot: Slot, of row: UnsafeMutableRawPointer) -> Int {
    bytesKept(by: row.load(fromByteOffset: shape.kind(slot), as: UInt8.self), in: row + shape.cell(slot))
  }

  @inline(__always)
  private func bytesKept(by kind: UInt8, in cell: UnsafeMutableRawPointer) -> Int {
    switch kind {
    case CellKind.string, CellKind.data, CellKind.uuid: Int(cell.load(fromByteOffset: 4, as: UInt32.self))
    case CellKind.apart: Self.weight(apart: apart[cell.load(as: Int.self)])
    default: 0
    }
  }
}

/// Completing such pages in a save.
extension RowPage {
  /// Assigns the rows to a store; returns true at the first call.
  package func beginCompleting(in store: StoreNumber) -> Bool {
    guard stage == .filling else { return false }
    (stage, self.store) = (.completing, store)
    return true
  }

  /// Sets the key and version of a row.
  package func complete(_ place: Int, key: Int64, version: Int64) {
    let row = row(place)
    row.storeBytes(of: key, as: Int64.self)
    row.storeBytes(of: version, toByteOffset: RowShape.version, as: Int64.self)
  }

  /// Sets the value of a slot to the value to be saved. Returns the estimated number of bytes by which the row grows.
  /// If the save fails, the value counts as the row's own and undoing removes it.
  package func complete(_ place: Int, _ value: Value, slot: Slot) -> Int {
    let row = row(place)
    let former = bytesKept(slot, of: row)
    set(value, slot: slot, in: row)
    if slot < 64 { noteOwn(slot, of: place) }
    return bytesKept(slot, of: row) &- former
  }
}

/// The base of a changed object's row: the store's row, with a reference to its page that the owner must release.
@usableFromInline
package struct RowBase {
  @usableFromInline package let page: Unmanaged<RowPage>
  @usableFromInline package let place: Int

  /// Consumes the reference: retaining and releasing it cost as much as copying the row.
  @inlinable
  package init(_ page: consuming RowPage, at place: Int) { (self.page, self.place) = (.passRetained(page), place) }
}

extension RowPage {
  /// The base of a row.
  @usableFromInline
  struct Below {
    /// The base row; nil for a row that is in no store yet.
    @usableFromInline private(set) var base: RowBase?
    /// The slots (of the first 64) in which the row differs from its base; all for a row without a base.
    @usableFromInline var ownSlots = UInt64.max

    mutating func forgetBase() {
      base?.page.release()
      base = nil
    }
  }
}
