#if PostgreSQL
  internal import MoonbaseCPostgreSQL
  package import MoonbasePlatform

  /// Rows in PostgreSQL's binary form: the complete result of a statement, or some rows of a `COPY`. Bytes are valid
  /// while the object is retained.
  package final class ResultRows {
    /// The bytes of a value.
    @usableFromInline
    struct Cell {
      /// Nil for NULL.
      @usableFromInline let start: UnsafeRawPointer?
      @usableFromInline let length: Int
    }

    /// Nil for the rows of a `COPY`.
    private let result: OpaquePointer?
    /// Nil for the result of a statement.
    private let copied: CopiedRows?
    /// The values of the rows of a `COPY`.
    @usableFromInline let cells: UnsafePointer<Cell>?
    /// The number of rows.
    package let count: Int
    /// The number of columns.
    @usableFromInline package let columnCount: Int

    init(_ result: OpaquePointer) {
      (self.result, copied, cells) = (result, nil, nil)
      count = Int(PQntuples(result))
      columnCount = Int(PQnfields(result))
    }

    init(_ copied: CopiedRows) {
      (result, self.copied, cells) = (nil, copied, UnsafePointer(copied.cells))
      (count, columnCount) = (copied.count, copied.columnCount)
    }

    deinit { PQclear(result) }

    /// The number of rows that the statement wrote.
    package var affectedCount: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The type of a column. Nil for types that Moonbase does not use, and for the rows of a `COPY`.
    package func type(_ column: Int) -> PostgreSQLType? { PostgreSQLType(rawValue: PQftype(result, Int32(column))) }

    /// The object identifier of a column's type, also of types that Moonbase does not use.
    package func typeNumber(_ column: Int) -> UInt32 { PQftype(result, Int32(column)) }

    /// The name of a column.
    package func name(_ column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "" }

    /// Whether a value is NULL.
    @inlinable
    package func isNull(_ row: Int, _ column: Int) -> Bool {
      if let cells { return cells[row &* columnCount &+ column].start == nil }
      return resultIsNull(row, column)
    }

    @usableFromInline
    func resultIsNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) != 0 }

    /// The bytes of a value in binary form; empty for NULL.
    @inlinable
    package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
      guard let cells else { return resultBytes(row, column) }
      let cell = cells[row &* columnCount &+ column]
      return UnsafeRawBufferPointer(start: cell.start, count: cell.length)
    }

    @usableFromInline
    func resultBytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(
        start: PQgetvalue(result, Int32(row), Int32(column)), count: Int(PQgetlength(result, Int32(row), Int32(column)))
      )
    }

    /// An integer of any width, or a Boolean as an integer; 0 for NULL.
    @inlinable
    package func integer(_ row: Int, _ column: Int) -> Int64 {
      let bytes = bytes(row, column)
      switch bytes.count {
      case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
      case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
      case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
      case 1: return Int64(bytes[0])
      default: return 0
      }
    }

    /// A double-precision number; 0 for NULL.
    @inlinable
    package func double(_ row: Int, _ column: Int) -> Double {
      let bytes = bytes(row, column)
      return bytes.count == 8 ? Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))) : 0
    }

    /// The text of a value.
    package func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// The elements of an array of texts.
    package func texts(_ row: Int, _ column: Int) -> [String] {
      let bytes = bytes(row, column)
      func number(_ place: Int) -> Int {
        Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
      }
      guard bytes.count >= 20 else { return [] }
      var texts: [String] = []
      var place = 20
      for _ in 0..<number(12) {
        let length = max(0, number(place))
        texts.append(String(decoding: bytes[(place + 4)..<(place + 4 + length)], as: UTF8.self))
        place += 4 + length
      }
      return texts
    }

    /// A copy of a value's bytes.
    package func data(_ row: Int, _ column: Int) -> Data { Data(bytes(row, column)) }

    /// The UUID of a value. Nil for NULL.
    package func uuid(_ row: Int, _ column: Int) -> UUID? {
      let bytes = bytes(row, column)
      return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    }
  }
#endif
