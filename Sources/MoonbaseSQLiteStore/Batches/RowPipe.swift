import MoonbasePlatform

/// A queue of new values for rows. A thread computes the values, and a second thread reads them in the same order, some
/// thousand rows behind.
///
/// Blocks of rows pass from the writer to the reader and back, so that no row needs a lock or an allocation.
///
/// Exactly one thread computes (`set`, `add`, `complete`) and one reads (`next`, `value`). `breakOff` ends both sides,
/// from any thread. At most six full blocks wait, so that memory is constant.
final class RowPipe: @unchecked Sendable {  // writer and reader each own a block; `full` and `empty` lock the others
  /// Thrown when the reader expects another row than the next one, or a value could not be computed. The rows then have
  /// to be updated in another way.
  struct Misfit: Error {}

  /// A row, in the order of its key.
  private struct Row {
    /// `Z_PK`.
    var key: Int64
    /// Whether the row gets other values; otherwise it has no cells.
    var differs: Bool
  }

  /// The value for a column of a row. `place` is the position of its bytes in the block.
  private struct Cell {
    /// The value for the column.
    var cell: PlainCell
    var place = 0
  }

  /// A block of rows with their values.
  private final class Block: @unchecked Sendable {  // owned by the writer or the reader at a time
    /// The most rows.
    static let capacity = 1024
    /// The number of bytes that also fills a block.
    static let greatestSize = 256 << 10

    /// The number of rows.
    var count = 0
    /// The rows, from 0 to `count`.
    let rows = UnsafeMutablePointer<Row>.allocate(capacity: capacity)
    /// The cells of all rows.
    let cells: UnsafeMutablePointer<Cell>
    /// The used bytes.
    private var size = 0
    /// The allocated bytes.
    private var space = 32 << 10
    /// The bytes of texts and blobs of all rows.
    private(set) var bytes = UnsafeMutableRawPointer.allocate(byteCount: 32 << 10, alignment: 1)

    /// An empty block for rows with `width` values.
    init(width: Int) { cells = .allocate(capacity: Self.capacity * width) }

    deinit {
      rows.deallocate()
      cells.deallocate()
      bytes.deallocate()
    }

    /// Whether the next row belongs to another block.
    var isFull: Bool { count == Self.capacity || size >= Self.greatestSize }

    /// Makes the block empty and keeps its memory.
    func clear() { (count, size) = (0, 0) }

    /// Copies bytes into the block, and returns their position.
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

  /// The blocks that were filled and not read yet.
  private let full = Handover<Block>(depth: 6)
  /// The blocks that were read and can be filled again.
  private let empty = Lock<[Block]>([])
  /// The number of values of a row.
  private let width: Int

  /// The block that the writer fills.
  private var filling: Block
  /// The block that the reader reads.
  private var taking: Block
  /// The place of the next row in the reader's block.
  private var place = 0

  /// A pipe for rows with `width` values.
  init(width: Int) {
    self.width = width
    (filling, taking) = (Block(width: width), Block(width: width))
  }

  // MARK: Computing

  /// Sets the value of a column for the row that is added next.
  @inline(__always)
  func set(_ value: PlainCell, column: Int) {
    var cell = Cell(cell: value)
    if value.kind == .bytes { cell.place = filling.add(value.bytes) }
    (filling.cells + (filling.count &* width &+ column)).initialize(to: cell)
  }

  /// Adds a row, and waits for room. A row that differs needs values for all columns. Returns false once the reader has
  /// stopped. Throws where the run on this thread must end.
  @inline(__always)
  func add(_ key: Int64, differs: Bool) throws -> Bool {
    (filling.rows + filling.count).initialize(to: Row(key: key, differs: differs))
    filling.count += 1
    return filling.isFull ? try handOver() : true
  }

  /// Passes the filled block to the reader. Returns false once the reader has stopped.
  private func handOver() throws -> Bool {
    do {
      try full.put(filling)
    } catch is BrokenHandover {
      return false
    }
    filling = empty.withLock { $0.popLast() } ?? Block(width: width)
    return true
  }

  /// Tells the reader that all rows were added. Call this after the last row.
  func complete() throws {
    if try handOver() { full.complete() }
  }

  /// Stops the other side: there are no more rows, or no more are wanted. May be called repeatedly.
  func breakOff() { full.breakOff() }

  // MARK: Taking

  /// Moves to the next row, which must have this key. Returns whether the row gets other values. Throws `Misfit` for
  /// another key, and when no more rows come.
  @inline(__always)
  func next(_ key: Int64) throws -> Bool {
    while place == taking.count { try advanceBlock() }
    let row = taking.rows + place
    guard row.pointee.key == key else { throw Misfit() }
    place += 1
    return row.pointee.differs
  }

  /// The value of a column of the current row, valid until the next row.
  func value(column: Int) -> PlainCell {
    let cell = taking.cells[(place - 1) * width + column]
    guard cell.cell.kind == .bytes else { return cell.cell }
    return PlainCell(bytes: UnsafeRawBufferPointer(start: taking.bytes + cell.place, count: cell.cell.bytes.count))
  }

  /// Whether the reader has read all rows, once the writer is done. Waits for the writer's next block if necessary.
  func isAtEnd() throws -> Bool {
    while place == taking.count {
      guard let block = try full.receive() else { return true }
      (taking, place) = (block, 0)
    }
    return false
  }

  /// Takes the next block and gives the read one back.
  private func advanceBlock() throws {
    guard let block = try nextBlock() else { throw Misfit() }
    let taken = taking
    taken.clear()
    empty.withLock { $0.append(taken) }
    (taking, place) = (block, 0)
  }

  /// Nil when the writer has stopped or is done.
  private func nextBlock() throws -> Block? {
    do {
      return try full.receive()
    } catch is BrokenHandover {
      return nil
    }
  }
}
