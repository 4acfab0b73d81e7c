public import MoonbaseModel
public import MoonbasePlatform
public import Synchronization

/// Rows of one entity of a store in one block of memory: up to 512, shared by threads, decoded on access.
///
/// A row consists of its key, its version, a cell of eight bytes for each slot of the entity, and a byte for each slot
/// with the cell's kind. A cell holds a number, the key of an object, the offset of text or data in the page's tail, or
/// the index of a separately stored (large or rare) value. A `Snapshot` is a page and a place in it.
///
/// The creator of a page fills it (with a `RowPageBuilder`, or new objects fill a row each) and seals it. The page is
/// exclusive to its creator until it is sealed, and immutable afterwards.
public final class RowPage: @unchecked Sendable {  // exclusive to one thread until sealed, immutable afterwards
  /// The greatest number of rows in a page.
  public static let capacity = 512

  /// The state of a page.
  @usableFromInline
  enum Stage {
    case filling
    /// A save adopts the rows, and replaces only keys and other values that it must.
    case completing
    case sealed
  }

  /// The entity of the rows.
  @usableFromInline package let entity: Symbol
  @usableFromInline package let shape: RowShape
  /// The number of rows that fit.
  @usableFromInline package let capacity: Int
  // Set only while the page is filled (RowPage+Filling.swift). No access lasts while other code runs.

  /// The store of the rows; the store of temporary IDs while they are unsaved.
  @exclusivity(unchecked) @usableFromInline package var store: StoreNumber
  /// The number of rows.
  @exclusivity(unchecked) public internal(set) var count = 0
  @exclusivity(unchecked) @usableFromInline var stage = Stage.filling
  @exclusivity(unchecked) @usableFromInline var averageWeight = 0
  @exclusivity(unchecked) @usableFromInline var rows: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var tail: UnsafeMutableRawPointer?
  @exclusivity(unchecked) @usableFromInline var tailRoom = 0
  @exclusivity(unchecked) @usableFromInline package var tailCount = 0
  /// The number of tail bytes to which no cell refers any more.
  @exclusivity(unchecked) @usableFromInline var waste = 0
  /// Outgrown tails, kept while other code may read their bytes.
  @exclusivity(unchecked) var formerTails: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) var formerRoom = 0
  @exclusivity(unchecked) @usableFromInline var kinds: ContiguousArray<ReferenceKind> = []
  @exclusivity(unchecked) @usableFromInline var apart: ContiguousArray<Value> = []
  /// The bytes of the separately stored values.
  @exclusivity(unchecked) @usableFromInline var apartWeight = 0
  /// The base rows of changed objects, by place; nil if none of the objects was in a store before. Only the context
  /// whose objects fill the page uses it, until a save adopts the rows.
  @exclusivity(unchecked) @usableFromInline var bases: UnsafeMutablePointer<Below>?
  /// The time when the read of the rows began (`momentOfReading`); 0 if unknown.
  @exclusivity(unchecked) var readAt = 0.0
  /// Whether other code reads bytes while the page is filled.
  private let keepsAddresses: Bool
  /// The number of objects, in all contexts, that have released their row of the page.
  @usableFromInline let departures = Atomic(0)

  /// Makes an empty page. With `keepsAddresses`, bytes stay at their address as long as the page exists.
  package init(_ store: StoreNumber, entity: Symbol, slotCount: Int, capacity: Int, keepsAddresses: Bool = false) {
    (self.store, self.entity, self.keepsAddresses) = (store, entity, keepsAddresses)
    shape = RowShape(slotCount: slotCount)
    self.capacity = min(max(capacity, 1), Self.capacity)
    rows = .allocate(byteCount: self.capacity * shape.stride, alignment: 8)
  }

  deinit {
    rows.deallocate()
    tail?.deallocate()
    forgetBases()
    for former in formerTails { former.deallocate() }
  }

  /// Handles a tail that was replaced by a longer one.
  func retire(_ former: UnsafeMutableRawPointer, of room: Int) {
    guard keepsAddresses else { return former.deallocate() }
    formerTails.append(former)
    formerRoom += room
  }

  // The compiler checks accesses to stored properties from another module, whatever their attribute says. These do not.

  /// Whether the creator still fills the page.
  @inlinable
  package var isFilling: Bool { stage == .filling }

  /// Whether a save adopts the rows.
  @inlinable
  package var isCompleting: Bool { stage == .completing }

  /// The estimated average number of bytes of a row; 0 until the page is sealed.
  @inlinable
  package var rowWeight: Int { averageWeight }

  /// The bytes of the page.
  @inlinable
  package var weight: Int { rowWeight &* count }

  /// The number of rows below which copying rows out of the page saves nothing.
  @inlinable static var smallest: Int { 8 }

  /// Counts an object that released its row. Returns true occasionally once so many have done so that hardly any row
  /// may be in use: the caller should then copy its remaining rows into a new page. The number in use is unknown,
  /// because contexts share pages.
  @inlinable
  package func noteDeparture() -> Bool {
    guard count >= Self.smallest else { return false }
    // Threads may lose counts to each other, which only delays the result; an exact count would cost an atomic
    // operation per object.
    let gone = departures.load(ordering: .relaxed) &+ 1
    departures.store(gone, ordering: .relaxed)
    let share = count / 4
    return gone >= 3 &* share && gone % share == 0
  }

  /// The key of a row.
  @inlinable
  @inline(__always)
  package func key(_ place: Int) -> Int64 { row(place).load(as: Int64.self) }

  /// The store and entity of the rows.
  @inlinable
  package var kind: ManagedObjectID.Kind { ManagedObjectID.Kind(store: store.rawValue, entity: entity) }

  /// The object ID of a row.
  @inlinable
  package func id(_ place: Int) -> ManagedObjectID {
    ManagedObjectID(store: store, entity: entity, key: key(place))
  }

  /// The number of times that a row was saved.
  @inlinable
  package func version(_ place: Int) -> Int64 { row(place).load(fromByteOffset: RowShape.version, as: Int64.self) }

  /// The address of a row.
  @inlinable
  @inline(__always)
  package func row(_ place: Int) -> UnsafeMutableRawPointer { rows + place &* shape.stride }

  /// The content of a row's slot.
  @inlinable
  @inline(__always)
  package func cell(_ slot: Slot, of place: Int) -> Snapshot.Cell {
    let row = row(place)
    let cell = row + shape.cell(slot)
    switch row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) {
    case CellKind.null: return .null
    case CellKind.bool: return .bool(cell.load(as: UInt64.self) != 0)
    case CellKind.int: return .int(cell.load(as: Int64.self))
    case CellKind.double: return .double(cell.load(as: Double.self))
    case CellKind.date: return .date(cell.load(as: Double.self))
    case CellKind.string: return .text(bytes(cell))
    case CellKind.data: return .data(bytes(cell))
    case CellKind.uuid: return .uuid(UUID(uuid: bytes(cell).loadUnaligned(as: uuid_t.self)))
    case CellKind.apart: return .value(apart[cell.load(as: Int.self)])
    case let kind:
      let reference = kinds[Int(kind - CellKind.firstReference)]
      return .reference(
        ManagedObjectID(store: reference.store, entity: reference.entity, key: cell.load(as: Int64.self)))
    }
  }

  /// The content of a row's slot, in registers.
  @inlinable
  @inline(__always)
  package func rawCell(_ slot: Slot, of place: Int) -> RawCell {
    let row = row(place)
    let cell = row + shape.cell(slot)
    switch row.load(fromByteOffset: shape.kind(slot), as: UInt8.self) {
    case CellKind.null: return RawCell(.null)
    case CellKind.bool: return RawCell(.bool, word: cell.load(as: UInt64.self))
    case CellKind.int: return RawCell(.int, word: cell.load(as: UInt64.self))
    case CellKind.double: return RawCell(.double, word: cell.load(as: UInt64.self))
    case CellKind.date: return RawCell(.date, word: cell.load(as: UInt64.self))
    case CellKind.string: return RawCell(.text, bytes: bytes(cell))
    case CellKind.data: return RawCell(.data, bytes: bytes(cell))
    default: return RawCell(.other)
    }
  }

  /// The value of a row's slot.
  @inlinable
  @inline(__always)
  package func value(_ slot: Slot, of place: Int) -> Value { cell(slot, of: place).asValue }

  /// The bytes in the tail to which a cell refers.
  @inlinable
  func bytes(_ cell: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let (start, length) = (cell.load(as: UInt32.self), cell.load(fromByteOffset: 4, as: UInt32.self))
    return UnsafeRawBufferPointer(start: tail.map { $0 + Int(start) }, count: Int(length))
  }
}

/// The offsets in a row with a given number of slots.
@usableFromInline
package struct RowShape: Sendable, Equatable {
  /// The offset of the version, behind the key.
  @inlinable package static var version: Int { 8 }
  /// The offset of the first cell.
  @inlinable package static var firstCell: Int { 16 }

  @usableFromInline package let slotCount: Int
  /// The bytes from one row to the next.
  @usableFromInline package let stride: Int

  @inlinable
  package init(slotCount: Int) {
    self.slotCount = slotCount
    stride = (Self.firstCell + 9 * slotCount + 7) & ~7
  }

  /// The offset of a slot's cell.
  @inlinable
  package func cell(_ slot: Slot) -> Int { Self.firstCell &+ 8 &* slot }
  /// The offset of the byte with the kind of a slot's cell.
  @inlinable
  package func kind(_ slot: Slot) -> Int { Self.firstCell &+ 8 &* slotCount &+ slot }

  /// Sets the cell of a slot and its kind.
  @inlinable
  @inline(__always)
  package func put<Cell: BitwiseCopyable>(_ cell: Cell, _ kind: UInt8, slot: Slot, in row: UnsafeMutableRawPointer) {
    row.storeBytes(of: cell, toByteOffset: self.cell(slot), as: Cell.self)
    row.storeBytes(of: kind, toByteOffset: self.kind(slot), as: UInt8.self)
  }
}

/// The kinds of cells. Zero is null, so that a zeroed row consists of nulls. Up to `data` the numbers equal those of
/// `RawCell.Kind`.
@usableFromInline
package enum CellKind {
  @inlinable package static var null: UInt8 { 0 }
  @inlinable package static var bool: UInt8 { 1 }
  @inlinable package static var int: UInt8 { 2 }
  @inlinable package static var double: UInt8 { 3 }
  @inlinable package static var date: UInt8 { 4 }
  /// Offset and length of bytes in the tail, 32 bits each.
  @inlinable package static var string: UInt8 { 5 }
  @inlinable package static var data: UInt8 { 6 }
  @inlinable package static var uuid: UInt8 { 7 }
  /// The index of a separately stored value.
  @inlinable package static var apart: UInt8 { 8 }
  /// The first kind of references: the cell holds a key, and the number above this one is the index in the page's
  /// `kinds`.
  @inlinable package static var firstReference: UInt8 { 16 }

  /// Examines eight kinds at once: sets the highest bit of each whose cell refers to the tail or to a separately stored
  /// value.
  @inline(__always)
  static func inTailOrApart(_ eight: UInt64) -> UInt64 {
    // The addition sets the highest bit of each byte that is at least `string`; greater bytes already have it.
    let low = eight & 0x7f7f_7f7f_7f7f_7f7f
    return (low &+ 0x0101_0101_0101_0101 &* UInt64(0x80 &- string) | eight) & 0x8080_8080_8080_8080
  }
}

/// The store and entity of the keys in reference cells.
@usableFromInline
struct ReferenceKind: Sendable, Equatable {
  @usableFromInline var store: StoreNumber
  @usableFromInline var entity: Symbol
}
