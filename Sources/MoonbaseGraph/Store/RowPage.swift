import MoonbaseModel
import MoonbasePlatform
import Synchronization

/// Rows of one entity of a store in one block of memory: up to 512, shared by threads, decoded on access.
///
/// A row is its key, its version, a cell of eight bytes for each slot of the entity, and a byte for each slot that says what the
/// cell holds: a number, the place of text or bytes in the page's tail, the key of an object, or the place of a value that is
/// kept apart because it is large or rare. `Snapshot` is a page and a place in it.
///
/// Who makes a page fills it (`RowPageBuilder`, or new objects, each its row) and seals it. Nobody else has it before that, and
/// nothing of it changes after.
public final class RowPage: @unchecked Sendable {  // one thread fills it, and others get it when it is sealed
  /// How many rows a page holds at most.
  public static let capacity = 512

  /// What may happen to a page.
  enum Stage {
    case filling
    /// A save takes the rows as they are, but for keys and what else it has to replace.
    case completing
    case sealed
  }

  /// The entity of the rows.
  let entity: Symbol
  let shape: RowShape
  /// How many rows there is room for.
  let capacity: Int
  // Set while the page is filled only (RowPage+Filling.swift). No access lasts while other code runs.

  /// The store of the rows; that of temporary IDs as long as they are new.
  @exclusivity(unchecked) var store: StoreNumber
  /// How many rows there are.
  @exclusivity(unchecked) public internal(set) var count = 0
  @exclusivity(unchecked) var stage = Stage.filling
  /// The bytes that a row keeps, on the average and by estimate; 0 as long as the page is not sealed.
  @exclusivity(unchecked) var rowWeight = 0
  @exclusivity(unchecked) var rows: UnsafeMutableRawPointer
  @exclusivity(unchecked) var tail: UnsafeMutableRawPointer?
  @exclusivity(unchecked) var tailRoom = 0
  @exclusivity(unchecked) var tailCount = 0
  /// The bytes in the tail that no cell names any more.
  @exclusivity(unchecked) var waste = 0
  /// Tails that became too short, as long as somebody may look at their bytes.
  @exclusivity(unchecked) var formerTails: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) var formerRoom = 0
  @exclusivity(unchecked) var kinds: ContiguousArray<ReferenceKind> = []
  @exclusivity(unchecked) var apart: ContiguousArray<Value> = []
  /// The bytes that the values apart keep.
  @exclusivity(unchecked) var apartWeight = 0
  /// What lies below the rows of objects that changed, by place; nil as long as no store had any of the rows before. Nobody but the context
  /// whose objects fill the page looks at it, until a save has taken these.
  @exclusivity(unchecked) var bases: UnsafeMutablePointer<Below>?
  /// When reading its rows from their store began (`momentOfReading`); 0 where nobody knows.
  @exclusivity(unchecked) var readAt = 0.0
  /// Whether bytes are looked at while the page is filled.
  private let isReadMeanwhile: Bool
  /// How many objects with a row of the page went, in all contexts.
  private let departures = Atomic(0)

  /// Makes room for rows. With `isReadMeanwhile` bytes stay where they are as long as the page is there.
  init(_ store: StoreNumber, entity: Symbol, slotCount: Int, capacity: Int, isReadMeanwhile: Bool = false) {
    (self.store, self.entity, self.isReadMeanwhile) = (store, entity, isReadMeanwhile)
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

  /// A tail was replaced by a longer one.
  func retire(_ former: UnsafeMutableRawPointer, of room: Int) {
    guard isReadMeanwhile else { return former.deallocate() }
    formerTails.append(former)
    formerRoom += room
  }

  /// The bytes that the page keeps.
  var weight: Int { rowWeight &* count }

  /// Smaller pages are worth no copy of a row.
  private static let smallest = 8

  /// An object with a row of the page goes. True now and then, once so many went that hardly any may be left: these had better
  /// have a page of their own. Nobody knows how many these are, for objects of other contexts may have gone.
  func noteDeparture() -> Bool {
    guard count >= Self.smallest else { return false }
    // A count that two threads lose to each other comes later; one that they agree on would cost each object an atomic operation.
    let gone = departures.load(ordering: .relaxed) &+ 1
    departures.store(gone, ordering: .relaxed)
    let share = count / 4
    return gone >= 3 &* share && gone % share == 0
  }

  /// The key of a row's object.
  @inline(__always)
  func key(_ place: Int) -> Int64 { row(place).load(as: Int64.self) }

  /// Store and entity of the rows.
  var kind: ManagedObjectID.Kind { ManagedObjectID.Kind(store: store.rawValue, entity: entity) }

  /// The ID of a row's object.
  func id(_ place: Int) -> ManagedObjectID {
    ManagedObjectID(store: store, entity: entity, key: key(place))
  }

  /// How often a row was saved.
  func version(_ place: Int) -> Int64 { row(place).load(fromByteOffset: RowShape.version, as: Int64.self) }

  @inline(__always)
  func row(_ place: Int) -> UnsafeMutableRawPointer { rows + place &* shape.stride }

  /// What the slot of a row holds.
  @inline(__always)
  func cell(_ slot: Slot, of place: Int) -> Snapshot.Cell {
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

  /// What the slot of a row holds, in registers.
  @inline(__always)
  func rawCell(_ slot: Slot, of place: Int) -> RawCell {
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

  /// The value of a slot of a row.
  func value(_ slot: Slot, of place: Int) -> Value { cell(slot, of: place).asValue }

  /// The bytes in the tail that a cell names.
  private func bytes(_ cell: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    let (start, length) = (cell.load(as: UInt32.self), cell.load(fromByteOffset: 4, as: UInt32.self))
    return UnsafeRawBufferPointer(start: tail.map { $0 + Int(start) }, count: Int(length))
  }
}

/// Where things lie in a row of so many slots.
struct RowShape: Sendable, Equatable {
  static let version = 8
  private static let firstCell = 16

  let slotCount: Int
  /// From one row to the next.
  let stride: Int

  init(slotCount: Int) {
    self.slotCount = slotCount
    stride = (Self.firstCell + 9 * slotCount + 7) & ~7
  }

  /// From the row to the cell of a slot.
  func cell(_ slot: Slot) -> Int { Self.firstCell &+ 8 &* slot }
  /// From the row to the byte that says what the cell of a slot holds.
  func kind(_ slot: Slot) -> Int { Self.firstCell &+ 8 &* slotCount &+ slot }

  /// Puts eight bytes into the cell of a slot, and says what they are.
  @inline(__always)
  func put<Cell: BitwiseCopyable>(_ cell: Cell, _ kind: UInt8, slot: Slot, in row: UnsafeMutableRawPointer) {
    row.storeBytes(of: cell, toByteOffset: self.cell(slot), as: Cell.self)
    row.storeBytes(of: kind, toByteOffset: self.kind(slot), as: UInt8.self)
  }
}

/// What a cell holds. Zero is null, so that an empty row is one of nulls. Up to `data` the numbers are those of `RawCell.Kind`.
enum CellKind {
  static let null: UInt8 = 0
  static let bool: UInt8 = 1
  static let int: UInt8 = 2
  static let double: UInt8 = 3
  static let date: UInt8 = 4
  /// Start and length of bytes in the tail, 32 bits each.
  static let string: UInt8 = 5
  static let data: UInt8 = 6
  static let uuid: UInt8 = 7
  /// The place of a value that is kept as such.
  static let apart: UInt8 = 8
  /// From here on: the key of an object, of the page's n-th kind of reference.
  static let firstReference: UInt8 = 16

  /// The highest bit of each of eight kinds whose cells name something that lies elsewhere in their page.
  @inline(__always)
  static func inTailOrApart(_ eight: UInt64) -> UInt64 {
    // A byte that is at least `string` gets its highest bit by the sum, or has it.
    let low = eight & 0x7f7f_7f7f_7f7f_7f7f
    return (low &+ 0x0101_0101_0101_0101 &* UInt64(0x80 &- string) | eight) & 0x8080_8080_8080_8080
  }
}

/// What the keys in a cell may be of.
struct ReferenceKind: Sendable, Equatable {
  var store: StoreNumber
  var entity: Symbol
}
