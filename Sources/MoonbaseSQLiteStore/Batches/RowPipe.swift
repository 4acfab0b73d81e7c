import MoonbasePlatform

/// New values of rows, which one thread computes and another takes in the same order, some thousand rows behind.
///
/// What it holds lies in blocks that go from one side to the other and back, so that nothing is locked or allocated for a row.
final class RowPipe: @unchecked Sendable {  // each side touches its own block; others lie in `full` and `empty`
  /// The side that takes asks for another row than the one that was computed, or a value could not be computed: the rows are to be taken in
  /// another way.
  struct Misfit: Error {}

  private struct Row {
    var key: Int64
    var differs: Bool
  }

  /// The value for a column of a row. `place` says where its bytes lie in the block.
  private struct Cell {
    var cell: PlainCell
    var place = 0
  }

  private final class Block: @unchecked Sendable {  // one side has it at a time
    static let capacity = 1024
    /// So many bytes fill it too.
    static let greatestSize = 256 << 10

    var count = 0
    let rows = UnsafeMutablePointer<Row>.allocate(capacity: capacity)
    /// The cells of all rows.
    let cells: UnsafeMutablePointer<Cell>
    private var size = 0
    private var space = 32 << 10
    private(set) var bytes = UnsafeMutableRawPointer.allocate(byteCount: 32 << 10, alignment: 1)

    init(width: Int) { cells = .allocate(capacity: Self.capacity * width) }

    deinit {
      rows.deallocate()
      cells.deallocate()
      bytes.deallocate()
    }

    var isFull: Bool { count == Self.capacity || size >= Self.greatestSize }

    func clear() { (count, size) = (0, 0) }

    /// Copies bytes, and says where they lie.
    func add(_ text: UnsafeRawBufferPointer) -> Int {
      if text.count > space - size {
        let larger = max(2 * space, size + text.count)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
        new.copyMemory(from: bytes, byteCount: size)
        bytes.deallocate()
        (bytes, space) = (new, larger)
      }
      if let start = text.baseAddress { bytes.advanced(by: size).copyMemory(from: start, byteCount: text.count) }
      defer { size += text.count }
      return size
    }
  }

  private let full = Handover<Block>(depth: 6)
  private let empty = Lock<[Block]>([])
  /// How many values a row gets.
  private let width: Int

  /// The block that is being filled.
  private var filling: Block
  /// The block that rows are taken from.
  private var taking: Block
  private var place = 0

  init(width: Int) {
    self.width = width
    (filling, taking) = (Block(width: width), Block(width: width))
  }

  // MARK: Computing

  /// Gives a column of the row that is added next a value.
  @inline(__always)
  func set(_ value: PlainCell, column: Int) {
    var cell = Cell(cell: value)
    if value.kind == .bytes { cell.place = filling.add(value.bytes) }
    (filling.cells + (filling.count &* width &+ column)).initialize(to: cell)
  }

  /// Adds a row, waiting for room; all columns of a row that differs have values. False where nobody takes any more.
  /// Throws where the run on this thread must end.
  @inline(__always)
  func add(_ key: Int64, differs: Bool) throws -> Bool {
    (filling.rows + filling.count).initialize(to: Row(key: key, differs: differs))
    filling.count += 1
    return filling.isFull ? try handOver() : true
  }

  private func handOver() throws -> Bool {
    do {
      try full.put(filling)
    } catch is BrokenHandover {
      return false
    }
    filling = empty.withLock { $0.popLast() } ?? Block(width: width)
    return true
  }

  /// All rows were added.
  func complete() throws {
    if try handOver() { full.complete() }
  }

  /// Ends the other side, where a side wants or has no more rows.
  func breakOff() { full.breakOff() }

  // MARK: Taking

  /// Goes to the next row, which has to be the one of the key; whether it gets other values.
  @inline(__always)
  func next(_ key: Int64) throws -> Bool {
    while place == taking.count { try takeBlock() }
    let row = taking.rows + place
    guard row.pointee.key == key else { throw Misfit() }
    place += 1
    return row.pointee.differs
  }

  /// The value of a column of the row that was gone to; it holds good until the next one.
  func value(column: Int) -> PlainCell {
    let cell = taking.cells[(place - 1) * width + column]
    guard cell.cell.kind == .bytes else { return cell.cell }
    return PlainCell(bytes: UnsafeRawBufferPointer(start: taking.bytes + cell.place, count: cell.cell.bytes.count))
  }

  /// Whether no row is left, when the other side is done.
  func isAtEnd() throws -> Bool {
    while place == taking.count {
      guard let block = try full.take() else { return true }
      (taking, place) = (block, 0)
    }
    return false
  }

  private func takeBlock() throws {
    guard let block = try nextBlock() else { throw Misfit() }
    let taken = taking
    taken.clear()
    empty.withLock { $0.append(taken) }
    (taking, place) = (block, 0)
  }

  private func nextBlock() throws -> Block? {
    do {
      return try full.take()
    } catch is BrokenHandover {
      return nil
    }
  }
}
