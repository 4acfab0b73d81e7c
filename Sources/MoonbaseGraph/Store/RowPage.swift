import MoonbaseModel
import MoonbasePlatform
import Synchronization

/// Rows of one entity of a store in one block of memory: up to 512, never changed, shared by threads, decoded on access.
///
/// A row is its key, its version, a cell of eight bytes for each slot of the entity, and a byte for each slot that says what the
/// cell holds: a number, the place of text or bytes in the page's tail, the key of an object, or the place of a value that is
/// kept apart because it is large or rare. Pages are made by `RowPageBuilder`; `Snapshot` is a page and a place in it.
public final class RowPage: @unchecked Sendable {  // what its pointers lead to is written before there is a page
  /// How many rows a page holds at most.
  public static let capacity = 512

  /// The store of the rows.
  let store: StoreNumber
  /// The entity of the rows.
  let entity: Symbol
  /// How many rows there are.
  public let count: Int
  let shape: RowShape
  /// The bytes that a row keeps, on the average and by estimate.
  let rowWeight: Int
  /// How many objects with a row of the page went, in all contexts.
  private let departures = Atomic(0)

  private let rows: UnsafeMutableRawPointer
  private let tail: UnsafeMutableRawPointer?
  private let kinds: ContiguousArray<ReferenceKind>
  private let apart: ContiguousArray<Value>

  /// Takes over what a builder filled.
  init(
    store: StoreNumber, entity: Symbol, count: Int, shape: RowShape, rows: UnsafeMutableRawPointer,
    tail: UnsafeMutableRawPointer?, kinds: ContiguousArray<ReferenceKind>, apart: ContiguousArray<Value>, weight: Int
  ) {
    (self.store, self.entity, self.count, self.shape) = (store, entity, count, shape)
    (self.rows, self.tail, self.kinds, self.apart) = (rows, tail, kinds, apart)
    rowWeight = weight / max(count, 1)
  }

  deinit {
    rows.deallocate()
    tail?.deallocate()
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

  private func row(_ place: Int) -> UnsafeMutableRawPointer { rows + place &* shape.stride }

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
  func value(_ slot: Slot, of place: Int) -> Value {
    switch cell(slot, of: place) {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .data(let bytes): .data(Data(bytes))
    case .uuid(let uuid): .uuid(uuid)
    case .reference(let id): .objectID(id)
    case .value(let value): value
    }
  }

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
}

/// What a cell holds. Zero is null, so that an empty row is one of nulls.
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
}

/// What the keys in a cell may be of.
struct ReferenceKind: Sendable, Equatable {
  var store: StoreNumber
  var entity: Symbol
}
