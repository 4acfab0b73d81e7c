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
  func addRow(over base: consuming Snapshot, but slot: Slot) -> Int {
    if base.page.shape == shape {
      copyRow(base, but: slot)
    } else {
      let row = beginRow(key: base.page.key(base.place), version: base.version)
      copy(base, but: SlotSet(low: 1 << UInt64(slot), high: []), in: row)
    }
    while bases.count < count { bases.append(nil) }
    bases.append(base)
    (ownSlots ?? makeOwnSlots())[count] = 1 << UInt64(slot)
    endRow()
    return count &- 1
  }

  /// The row below; nil where no store had any.
  @inline(__always)
  func base(of place: Int) -> Snapshot? { place < bases.count ? bases[place] : nil }

  /// The bytes that it keeps, by estimate.
  func baseWeight(of place: Int) -> Int {
    place < bases.count ? bases.withUnsafeBufferPointer { $0[place]?.page.rowWeight ?? 0 } : 0
  }

  /// The first 64 slots in which a row has values of its own: all where there is none below.
  @inline(__always)
  func ownSlots(of place: Int) -> UInt64 { ownSlots?[place] ?? .max }

  @inline(__always)
  private func noteOwn(_ slot: Slot, of place: Int) { ownSlots?[place] |= 1 << UInt64(slot) }

  @inline(never)  // once for each page
  private func makeOwnSlots() -> UnsafeMutablePointer<UInt64> {
    let new = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
    new.initialize(repeating: .max, count: capacity)
    ownSlots = new
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
    ownSlots?[place] &= ~(1 << UInt64(slot))
    return bytesKept(slot, of: row) &- former
  }

  /// Nobody needs the row below any more.
  func forgetBase(of place: Int) {
    if place < bases.count { bases[place] = nil }
  }

  /// The same of all rows, which a store has now.
  func forgetBases() {
    bases = []
    ownSlots?.deallocate()
    ownSlots = nil
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
    switch new.kind {
    case .null, .other: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool: shape.put(new.word, CellKind.bool, slot: slot, in: row)
    case .int: shape.put(new.int, CellKind.int, slot: slot, in: row)
    case .double: shape.put(new.double, CellKind.double, slot: slot, in: row)
    case .date: shape.put(new.double, CellKind.date, slot: slot, in: row)
    case .text: set(text: new.bytes, slot: slot, in: row)
    case .data: set(data: new.bytes, slot: slot, in: row)
    }
    noteOwn(slot, of: place)
    return bytesKept(slot, of: row) &- former
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
