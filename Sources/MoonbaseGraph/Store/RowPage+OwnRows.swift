import MoonbaseModel
import MoonbasePlatform

/// Pages that new and changed objects fill: each writes the cells of its row, as often as it likes, and a save completes the rows
/// where they are. The row of a changed object has the store's row below it.
///
/// What somebody may look at stays as it is: text and bytes come behind what is there. How many of these are of no use any more is
/// bounded. What cannot be written into its cell is refused, and the object keeps it beside the row.
extension RowPage {
  /// A row of nulls. Returns its place.
  func addRow(key: Int64) -> Int {
    _ = beginRow(key: key, version: 0)
    endRow()
    return count &- 1
  }

  /// A row above another one, with its values but for a slot that is to have one of its own. Returns its place.
  func addRow(over base: RowBase, but slot: Slot) -> Int {
    base.page._withUnsafeGuaranteedRef { page in
      let row = beginRow(key: page.key(base.place), version: page.version(base.place))
      copy(Snapshot(unchecked: page, at: base.place), but: SlotSet(low: 1 << UInt64(slot), high: []), in: row)
    }
    return endRow(over: base, but: slot)
  }

  /// The same with what the slot is to have, of which no value is made (`takes`).
  func addRow(over base: RowBase, _ new: RawCell, slot: Slot) -> Int {
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

  @inline(__always)
  private func endRow(over base: RowBase, but slot: Slot) -> Int {
    let bases = bases ?? makeBases()
    bases[count] = Below(base: base, ownSlots: 1 << UInt64(slot))
    endRow()
    return count &- 1
  }

  /// The row below; nil where no store had any.
  @inline(__always)
  func base(of place: Int) -> Snapshot? {
    guard let base = bases?[place].base else { return nil }
    return Snapshot(unchecked: base.page.takeUnretainedValue(), at: base.place)
  }

  /// The bytes that it keeps, by estimate.
  func baseWeight(of place: Int) -> Int {
    bases?[place].base?.page._withUnsafeGuaranteedRef { $0.rowWeight } ?? 0
  }

  /// The first 64 slots in which a row has values of its own: all where there is none below.
  @inline(__always)
  func ownSlots(of place: Int) -> UInt64 { bases?[place].ownSlots ?? .max }

  @inline(__always)
  private func noteOwn(_ slot: Slot, of place: Int) { bases?[place].ownSlots |= 1 << UInt64(slot) }

  @inline(never)  // once for each page
  private func makeBases() -> UnsafeMutablePointer<Below> {
    let new = UnsafeMutablePointer<Below>.allocate(capacity: capacity)
    new.initialize(repeating: Below(), count: capacity)
    bases = new
    return new
  }

  /// A slot has the value of the row below again. Returns how many bytes the row keeps more than before, by estimate; nil, and nothing
  /// done, where the cell is to stay as it is.
  func restoreBase(slot: Slot, of place: Int) -> Int? {
    guard stage == .filling, let base = base(of: place) else { return nil }
    let row = row(place)
    let former = bytesKept(slot, of: row)
    guard row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) != CellKind.apart, former == 0 || mayWaste(former)
    else { return nil }
    copy(base.cell(slot), slot: slot, in: row)
    bases?[place].ownSlots &= ~(1 << UInt64(slot))
    return bytesKept(slot, of: row) &- former
  }

  /// Nobody needs the row below any more.
  func forgetBase(of place: Int) { bases?[place].forgetBase() }

  /// The same of all rows, which a store has now.
  func forgetBases() {
    guard let bases else { return }
    for place in 0..<count { bases[place].forgetBase() }
    bases.deallocate()
    self.bases = nil
  }

  /// Puts another value into the cell of a slot. Returns how many bytes the row keeps more than before, by estimate; nil, and
  /// nothing done, where the cell is to stay as it is.
  func replace(_ value: Value, slot: Slot, of place: Int) -> Int? {
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

  /// Whether what lies elsewhere can be put into a cell without a value made of it.
  static func takes(_ new: RawCell) -> Bool { new.length <= longest && new.kind != .other }

  /// The same for what lies elsewhere, of which no value is made; nil also where it would have to lie apart.
  func replace(_ new: RawCell, slot: Slot, of place: Int) -> Int? {
    guard stage == .filling, Self.takes(new) else { return nil }
    let row = row(place)
    let kind = row.load(fromByteOffset: shape.kind(slot), as: UInt8.self)
    let former = bytesKept(by: kind, in: row + shape.cell(slot))
    guard kind != CellKind.apart, former == 0 || mayWaste(former) else { return nil }
    put(new, slot: slot, in: row)
    noteOwn(slot, of: place)
    return bytesKept(slot, of: row) &- former
  }

  /// Puts what lies elsewhere into a cell, whatever is there.
  @inline(__always)
  private func put(_ new: RawCell, slot: Slot, in row: UnsafeMutableRawPointer) {
    switch new.kind {
    case .null, .other: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool, .int, .double, .date: shape.put(new.word, new.kind.rawValue, slot: slot, in: row)
    case .text: set(text: new.bytes, slot: slot, in: row)
    case .data: set(data: new.bytes, slot: slot, in: row)
    }
  }

  /// What `overwrite` did.
  enum Overwriting {
    /// Nothing: `replace` has to be asked.
    case refused
    /// Nothing: the cell holds the same already.
    case same
    /// The row keeps so many bytes more than before.
    case done(bytes: Int)
  }

  /// Puts what lies elsewhere over something of the same kind, where that takes a few words and no allocation.
  @inline(__always)
  func overwrite(_ new: RawCell, slot: Slot, of place: Int) -> Overwriting {
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

  /// Who looks at a value apart has it, so that another one can take its place.
  private func replace(apart index: Int, by value: Value, slot: Slot, in row: UnsafeMutableRawPointer) -> Bool {
    let liesApart = Self.liesApart(value)
    guard liesApart || mayWaste(Self.weight(apart: .null)) else { return false }
    let new = liesApart ? value : .null
    apartWeight &+= Self.weight(apart: new) &- Self.weight(apart: apart[index])
    apart[index] = new
    if !liesApart { set(value, slot: slot, in: row) }
    return true
  }

  /// Nobody reads a row any more: what it has apart goes before the page does.
  func forgetValuesApart(of place: Int) {
    guard stage == .filling, !apart.isEmpty else { return }
    let row = row(place)
    for slot in 0..<shape.slotCount
    where row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) == CellKind.apart {
      let index = (row + shape.cell(slot)).load(as: Int.self)
      apartWeight &+= Self.weight(apart: .null) &- Self.weight(apart: apart[index])
      apart[index] = .null
    }
  }

  /// Notes that so many bytes are of no use any more, unless there would be too many of them.
  private func mayWaste(_ bytes: Int) -> Bool {
    guard waste &+ bytes <= tailCount / 2 &+ 16 &* capacity else { return false }
    waste &+= bytes
    return true
  }

  /// The bytes that a row keeps, by estimate.
  func bytesKept(_ place: Int) -> Int {
    let row = row(place)
    var bytes = shape.stride
    for slot in 0..<shape.slotCount { bytes &+= bytesKept(slot, of: row) }
    return bytes
  }

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

/// What a save does with such pages.
extension RowPage {
  /// The rows become those of a store. True where that is new.
  func beginCompleting(in store: StoreNumber) -> Bool {
    guard stage == .filling else { return false }
    (stage, self.store) = (.completing, store)
    return true
  }

  /// Puts key and version in their places.
  func complete(_ place: Int, key: Int64, version: Int64) {
    let row = row(place)
    row.storeBytes(of: key, as: Int64.self)
    row.storeBytes(of: version, toByteOffset: RowShape.version, as: Int64.self)
  }

  /// Puts the value that is to be saved into the cell of a slot. Returns how many bytes the row keeps more than before, by estimate.
  /// The save may fail: then it is one of the row's own, which undoing takes out again.
  func complete(_ place: Int, _ value: Value, slot: Slot) -> Int {
    let row = row(place)
    let former = bytesKept(slot, of: row)
    set(value, slot: slot, in: row)
    if slot < 64 { noteOwn(slot, of: place) }
    return bytesKept(slot, of: row) &- former
  }
}

/// The store's row below that of an object that changed, with a reference to its page that somebody has to release.
struct RowBase {
  let page: Unmanaged<RowPage>
  let place: Int

  /// The reference moves here: to count it up and down took as long as to copy the row.
  init(_ page: consuming RowPage, at place: Int) { (self.page, self.place) = (.passRetained(page), place) }
}

extension RowPage {
  /// What lies below a row.
  struct Below {
    /// Nil where no store had any.
    private(set) var base: RowBase?
    /// The first 64 slots in which the row above has values of its own; all where there is none below.
    var ownSlots = UInt64.max

    mutating func forgetBase() {
      base?.page.release()
      base = nil
    }
  }
}
