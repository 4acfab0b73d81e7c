package import MoonbaseModel
import MoonbasePlatform

/// Filling a page row by row and value by value, without an allocation for either.
extension RowPage {
  /// The greatest number of bytes stored in the page. Longer text and data are stored as values, which objects share
  /// with the page.
  @inlinable package static var longest: Int { 4096 }

  @inlinable package var isFull: Bool { count == capacity }

  /// The estimated bytes of the rows so far.
  @inlinable
  package var filledWeight: Int { count &* shape.stride &+ tailCount &+ apartWeight }

  /// Begins a row of nulls, which `endRow` completes.
  func beginRow(key: Int64, version: Int64) -> UnsafeMutableRawPointer {
    let row = nextRow
    row.initializeMemory(as: UInt8.self, repeating: 0, count: shape.stride)
    row.storeBytes(of: key, as: Int64.self)
    row.storeBytes(of: version, toByteOffset: RowShape.version, as: Int64.self)
    return row
  }

  func endRow() { count &+= 1 }

  @inline(__always)
  var nextRow: UnsafeMutableRawPointer {
    precondition(!isFull, "the page is full: ask isFull, and finish it")
    precondition(stage == .filling, "the page is finished: make another one")
    return row(count)
  }

  /// Copies the bytes that a cell names in another page's tail into this page's tail; returns false if there is no
  /// room.
  @inline(__always)
  private func copyBytes(_ cell: UnsafeMutableRawPointer, of other: RowPage) -> Bool {
    let (start, length) = (cell.load(as: UInt32.self), Int(cell.load(fromByteOffset: 4, as: UInt32.self)))
    guard let source = other.tail, let new = makeRoom(for: length), let tail else { return false }
    (tail + new).copyMemory(from: source + Int(start), byteCount: length)
    cell.storeBytes(of: UInt32(truncatingIfNeeded: new), as: UInt32.self)
    return true
  }

  /// Ends all changes of the page, and reduces its memory to at most about twice what the rows need.
  package func seal() {
    guard stage != .sealed else { return }
    stage = .sealed
    if 2 * count < capacity { shorten() }
    let tails = tailRoom + formerRoom
    averageWeight = (min(capacity, 2 * count) * shape.stride + tails + apartWeight) / max(count, 1)
  }

  /// Moves the rows into a block of their size.
  private func shorten() {
    let short = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1) * shape.stride, alignment: 8)
    short.copyMemory(from: rows, byteCount: count * shape.stride)
    rows.deallocate()
    rows = short
  }

  /// Sets a value of a row.
  func set(_ value: Value, slot: Slot, in row: UnsafeMutableRawPointer) {
    precondition(slot >= 0 && slot < shape.slotCount, "the entity has no slot \(slot)")
    switch value {
    case .null: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool(let flag): shape.put(UInt64(flag ? 1 : 0), CellKind.bool, slot: slot, in: row)
    case .int(let number): shape.put(number, CellKind.int, slot: slot, in: row)
    case .double(let number): shape.put(number, CellKind.double, slot: slot, in: row)
    case .date(let date): shape.put(date.timeIntervalSinceReferenceDate, CellKind.date, slot: slot, in: row)
    case .string(var text):
      let isShort = text.utf8.count <= Self.longest
      if !isShort || !text.withUTF8({ putBytes(UnsafeRawBufferPointer($0), CellKind.string, slot: slot, in: row) }) {
        putApart(value, slot: slot, in: row)
      }
    case .data(let data):
      let isShort = data.count <= Self.longest
      if !isShort || !data.withUnsafeBytes({ putBytes($0, CellKind.data, slot: slot, in: row) }) {
        putApart(value, slot: slot, in: row)
      }
    case .uuid(let uuid):
      let isPut = withUnsafeBytes(of: uuid.uuid) { putBytes($0, CellKind.uuid, slot: slot, in: row) }
      if !isPut { putApart(value, slot: slot, in: row) }
    case .objectID(let id): putReference(id, slot: slot, in: row)
    case .decimal, .uri, .list, .map, .object: putApart(value, slot: slot, in: row)
    }
  }

  func set(text: UnsafeRawBufferPointer, slot: Slot, in row: UnsafeMutableRawPointer) {
    if text.count > Self.longest || !putBytes(text, CellKind.string, slot: slot, in: row) {
      putApart(.string(String(decoding: text, as: UTF8.self)), slot: slot, in: row)
    }
  }

  func set(data: UnsafeRawBufferPointer, slot: Slot, in row: UnsafeMutableRawPointer) {
    if data.count > Self.longest || !putBytes(data, CellKind.data, slot: slot, in: row) {
      putApart(.data(Data(data)), slot: slot, in: row)
    }
  }

  /// Copies the content of another row's slot.
  package func copy(_ cell: Snapshot.Cell, slot: Slot, in row: UnsafeMutableRawPointer) {
    switch cell {
    case .null: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool(let flag): shape.put(UInt64(flag ? 1 : 0), CellKind.bool, slot: slot, in: row)
    case .int(let number): shape.put(number, CellKind.int, slot: slot, in: row)
    case .double(let number): shape.put(number, CellKind.double, slot: slot, in: row)
    case .date(let seconds): shape.put(seconds, CellKind.date, slot: slot, in: row)
    case .text(let bytes): set(text: bytes, slot: slot, in: row)
    case .data(let bytes): set(data: bytes, slot: slot, in: row)
    case .uuid(let uuid): set(Value.uuid(uuid), slot: slot, in: row)
    case .reference(let id): putReference(id, slot: slot, in: row)
    case .value(let value): set(value, slot: slot, in: row)
    }
  }

  /// Copies the values of another row; the given slots stay null.
  func copy(_ other: borrowing Snapshot, but slots: SlotSet, in row: UnsafeMutableRawPointer) {
    guard other.page.shape == shape else {
      for slot in 0..<min(shape.slotCount, other.page.shape.slotCount) where !slots.contains(slot) {
        copy(other.cell(slot), slot: slot, in: row)
      }
      return
    }
    let start = shape.cell(0)
    (row + start).copyMemory(from: other.page.row(other.place) + start, byteCount: shape.stride - start)
    for slot in 0..<shape.slotCount where slots.contains(slot) {
      row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    }
    moveIn(row, from: other.page, at: other.place)
  }

  /// Completes a row whose bytes were copied from a page of the same shape: copies the content of the other page's tail
  /// and of its separate values.
  func moveIn(_ row: UnsafeMutableRawPointer, from other: RowPage, at place: Int) {
    let kinds = row + shape.kind(0)
    // The bytes behind the last kind are zero, that is null.
    for first in stride(from: 0, to: shape.slotCount, by: 8) {
      let eight = UInt64(littleEndian: kinds.load(fromByteOffset: first, as: UInt64.self))
      var found = CellKind.inTailOrApart(eight)
      while found != 0 {
        let slot = first &+ found.trailingZeroBitCount / 8
        found &= found &- 1
        let kind = kinds.load(fromByteOffset: slot, as: UInt8.self)
        if kind > CellKind.uuid || !copyBytes(row + shape.cell(slot), of: other) {
          copy(other.cell(slot, of: place), slot: slot, in: row)
        }
      }
    }
  }

  /// Sets a reference to an object.
  func putReference(_ id: ManagedObjectID, slot: Slot, in row: UnsafeMutableRawPointer) {
    let kind = ReferenceKind(store: StoreNumber(rawValue: id.storeNumber), entity: id.entitySymbol)
    let index = kinds.firstIndex(of: kind) ?? kinds.count
    guard index < Int(UInt8.max - CellKind.firstReference) else { return putApart(.objectID(id), slot: slot, in: row) }
    if index == kinds.count { kinds.append(kind) }
    shape.put(id.key, CellKind.firstReference + UInt8(index), slot: slot, in: row)
  }

  /// Stores a value separately.
  private func putApart(_ value: Value, slot: Slot, in row: UnsafeMutableRawPointer) {
    shape.put(apart.count, CellKind.apart, slot: slot, in: row)
    apart.append(value)
    apartWeight &+= Self.weight(apart: value)
  }

  static func weight(apart value: Value) -> Int { 24 &+ value.weight }

  /// Whether a value is stored separately. If the tail is full, or there are too many kinds of destinations, other
  /// values are too.
  static func liesApart(_ value: Value) -> Bool {
    switch value {
    case .string(let text): text.utf8.count > longest
    case .data(let data): data.count > longest
    case .decimal, .uri, .list, .map, .object: true
    case .null, .bool, .int, .double, .date, .uuid, .objectID: false
    }
  }

  /// Stores bytes in the tail; returns false if there is no room, as offsets have 32 bits.
  private func putBytes(_ bytes: UnsafeRawBufferPointer, _ kind: UInt8, slot: Slot, in row: UnsafeMutableRawPointer)
    -> Bool
  {
    guard let start = makeRoom(for: bytes.count) else { return false }
    if let source = bytes.baseAddress { tail?.advanced(by: start).copyMemory(from: source, byteCount: bytes.count) }
    shape.put(UInt64(start) | UInt64(bytes.count) << 32, kind, slot: slot, in: row)
    return true
  }

  /// Reserves bytes in the tail and returns their offset; nil if there is no room.
  private func makeRoom(for count: Int) -> Int? {
    let start = tailCount
    guard start &+ count <= Int(Int32.max) else { return nil }
    tailCount &+= count
    if tailCount > tailRoom { growTail(holding: start) }
    return start
  }

  /// Replaces the tail by a longer one.
  private func growTail(holding count: Int) {
    let room = max(2 * tailRoom, tailCount, capacity == 1 ? 64 : 16 * capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 1)
    if let tail {
      larger.copyMemory(from: tail, byteCount: count)
      retire(tail, of: tailRoom)
    }
    (tail, tailRoom) = (larger, room)
  }

  /// Allocates the tail with its expected length, if there is none yet.
  package func reserveTail(_ room: Int) {
    guard tail == nil, room > 0 else { return }
    (tail, tailRoom) = (.allocate(byteCount: room, alignment: 1), room)
  }
}
