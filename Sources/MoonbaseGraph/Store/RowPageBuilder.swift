public import MoonbaseModel
import MoonbasePlatform

/// Fills a page, row by row and value by value, without an allocation for either.
///
/// ```swift
/// let builder = RowPageBuilder(entity: entity, store: identifier, capacity: 1)
/// builder.beginRow(key: 7, version: 1)
/// builder.set("Ann", slot: name)
/// builder.endRow()
/// let page = builder.finish()
/// ```
public final class RowPageBuilder {
  /// Longer text and bytes are kept as values, which objects share with the page instead of copying them.
  private static let longest = 4096

  let store: StoreNumber
  let entity: Symbol
  let shape: RowShape
  /// How many rows there is room for.
  public let capacity: Int
  // No access to the fields lasts while other code runs; each is checked for every value otherwise.

  /// How many rows are complete.
  @exclusivity(unchecked) public private(set) var count = 0

  @exclusivity(unchecked) private var rows: UnsafeMutableRawPointer?
  /// The row that is being filled.
  @exclusivity(unchecked) private var row: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var tail: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var tailRoom = 0
  @exclusivity(unchecked) private var tailCount = 0
  @exclusivity(unchecked) private var kinds: ContiguousArray<ReferenceKind> = []
  @exclusivity(unchecked) private var apart: ContiguousArray<Value> = []
  /// The bytes that the values apart keep.
  @exclusivity(unchecked) private var apartWeight = 0

  /// Makes room for rows of an entity.
  public convenience init(entity: ResolvedEntity, store identifier: String, capacity: Int = RowPage.capacity) {
    self.init(
      StoreNumber(identifier), entity: entity.symbol, slotCount: entity.properties.count, capacity: capacity)
  }

  package init(_ store: StoreNumber, entity: Symbol, slotCount: Int, capacity: Int) {
    self.store = store
    self.entity = entity
    shape = RowShape(slotCount: slotCount)
    self.capacity = min(max(capacity, 1), RowPage.capacity)
    let rows = UnsafeMutableRawPointer.allocate(byteCount: self.capacity * shape.stride, alignment: 8)
    self.rows = rows
    row = rows
  }

  deinit {
    rows?.deallocate()
    tail?.deallocate()
  }

  /// Whether there is room for no more rows.
  public var isFull: Bool { count == capacity }

  /// The bytes that the rows keep so far, by estimate.
  package var weight: Int { count &* shape.stride &+ tailCount &+ apartWeight }

  /// Begins a row with all values null. One that was begun and not ended is forgotten.
  public func beginRow(key: Int64, version: Int64) {
    precondition(!isFull, "the page is full: ask isFull, and finish it")
    guard let rows else { preconditionFailure("the page is finished: make another builder") }
    row = rows + count &* shape.stride
    row.initializeMemory(as: UInt8.self, repeating: 0, count: shape.stride)
    row.storeBytes(of: key, as: Int64.self)
    row.storeBytes(of: version, toByteOffset: RowShape.version, as: Int64.self)
  }

  /// The row is complete.
  public func endRow() { count += 1 }

  /// Sets a value of the row that was begun.
  public func set(_ value: Value, slot: Slot) {
    precondition(slot >= 0 && slot < shape.slotCount, "the entity has no slot \(slot)")
    switch value {
    case .null: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool(let flag): put(UInt64(flag ? 1 : 0), CellKind.bool, slot: slot)
    case .int(let number): put(number, CellKind.int, slot: slot)
    case .double(let number): put(number, CellKind.double, slot: slot)
    case .date(let date): put(date.timeIntervalSinceReferenceDate, CellKind.date, slot: slot)
    case .string(var text):
      let isShort = text.utf8.count <= Self.longest
      if !isShort || !text.withUTF8({ putBytes(UnsafeRawBufferPointer($0), CellKind.string, slot: slot) }) {
        putApart(value, slot: slot)
      }
    case .data(let data):
      let isShort = data.count <= Self.longest
      if !isShort || !data.withUnsafeBytes({ putBytes($0, CellKind.data, slot: slot) }) { putApart(value, slot: slot) }
    case .uuid(let uuid):
      let isPut = withUnsafeBytes(of: uuid.uuid) { putBytes($0, CellKind.uuid, slot: slot) }
      if !isPut { putApart(value, slot: slot) }
    case .objectID(let id): putReference(id, slot: slot)
    case .decimal, .uri, .list, .map, .object: putApart(value, slot: slot)
    }
  }

  /// Hands the rows over, in no more memory than about twice what they need.
  public func finish() -> RowPage {
    guard let full = rows else { preconditionFailure("the page is finished: make another builder") }
    let rows = 2 * count < capacity ? shortened(full) : full
    defer { (self.rows, tail) = (nil, nil) }
    return RowPage(
      store: store, entity: entity, count: count, shape: shape, rows: rows, tail: tail, kinds: kinds, apart: apart,
      weight: min(capacity, 2 * count) * shape.stride + tailRoom + apartWeight)
  }

  private func shortened(_ rows: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let short = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1) * shape.stride, alignment: 8)
    short.copyMemory(from: rows, byteCount: count * shape.stride)
    rows.deallocate()
    return short
  }
}

/// Values that need no `Value` to pass through: what a cursor has in its hands.
extension RowPageBuilder {
  @inline(__always)
  package func set(integer: Int64, slot: Slot) { put(integer, CellKind.int, slot: slot) }

  @inline(__always)
  package func set(bool: Bool, slot: Slot) { put(UInt64(bool ? 1 : 0), CellKind.bool, slot: slot) }

  @inline(__always)
  package func set(double: Double, slot: Slot) { put(double, CellKind.double, slot: slot) }

  /// A date in seconds since the beginning of 2001.
  @inline(__always)
  package func set(date seconds: Double, slot: Slot) { put(seconds, CellKind.date, slot: slot) }

  package func set(text: UnsafeRawBufferPointer, slot: Slot) {
    if text.count > Self.longest || !putBytes(text, CellKind.string, slot: slot) {
      putApart(.string(String(decoding: text, as: UTF8.self)), slot: slot)
    }
  }

  package func set(data: UnsafeRawBufferPointer, slot: Slot) {
    if data.count > Self.longest || !putBytes(data, CellKind.data, slot: slot) {
      putApart(.data(Data(data)), slot: slot)
    }
  }

  /// What a slot of another row holds.
  package func copy(_ cell: Snapshot.Cell, slot: Slot) {
    switch cell {
    case .null: row.storeBytes(of: CellKind.null, toByteOffset: shape.kind(slot), as: UInt8.self)
    case .bool(let flag): set(bool: flag, slot: slot)
    case .int(let number): set(integer: number, slot: slot)
    case .double(let number): set(double: number, slot: slot)
    case .date(let seconds): set(date: seconds, slot: slot)
    case .text(let bytes): set(text: bytes, slot: slot)
    case .data(let bytes): set(data: bytes, slot: slot)
    case .uuid(let uuid): set(Value.uuid(uuid), slot: slot)
    case .reference(let id): putReference(id, slot: slot)
    case .value(let value): set(value, slot: slot)
    }
  }

  /// The key of an object of the page's store.
  package func set(key: Int64, of entity: Symbol, slot: Slot) {
    putReference(ManagedObjectID(store: store, entity: entity, key: key), slot: slot)
  }
}

extension RowPageBuilder {
  @inline(__always)
  private func put<Cell: BitwiseCopyable>(_ cell: Cell, _ kind: UInt8, slot: Slot) {
    row.storeBytes(of: cell, toByteOffset: shape.cell(slot), as: Cell.self)
    row.storeBytes(of: kind, toByteOffset: shape.kind(slot), as: UInt8.self)
  }

  private func putApart(_ value: Value, slot: Slot) {
    put(apart.count, CellKind.apart, slot: slot)
    apart.append(value)
    apartWeight &+= 24 &+ value.weight
  }

  /// False where there is no room in the tail, whose places have 32 bits.
  private func putBytes(_ bytes: UnsafeRawBufferPointer, _ kind: UInt8, slot: Slot) -> Bool {
    guard let start = makeRoom(for: bytes.count) else { return false }
    if let source = bytes.baseAddress { tail?.advanced(by: start).copyMemory(from: source, byteCount: bytes.count) }
    put(UInt64(start) | UInt64(bytes.count) << 32, kind, slot: slot)
    return true
  }

  /// The place of so many bytes in the tail, which has room for them.
  private func makeRoom(for count: Int) -> Int? {
    let start = tailCount
    guard start &+ count <= Int(Int32.max) else { return nil }
    tailCount &+= count
    if tailCount > tailRoom { growTail() }
    return start
  }

  private func growTail() {
    let room = max(2 * tailRoom, tailCount, capacity == 1 ? 64 : 16 * capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 1)
    if let tail {
      larger.copyMemory(from: tail, byteCount: tailRoom)
      tail.deallocate()
    }
    (tail, tailRoom) = (larger, room)
  }

  private func putReference(_ id: ManagedObjectID, slot: Slot) {
    let kind = ReferenceKind(store: StoreNumber(rawValue: id.storeNumber), entity: id.entitySymbol)
    let index = kinds.firstIndex(of: kind) ?? kinds.count
    guard index < Int(UInt8.max - CellKind.firstReference) else { return putApart(.objectID(id), slot: slot) }
    if index == kinds.count { kinds.append(kind) }
    put(id.key, CellKind.firstReference + UInt8(index), slot: slot)
  }
}
