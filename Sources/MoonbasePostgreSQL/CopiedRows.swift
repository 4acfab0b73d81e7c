#if PostgreSQL
  internal import MoonbaseCPostgreSQL
  import MoonbasePlatform

  /// Rows of a `COPY ... TO STDOUT` in binary form. Each message of the server has a row.
  final class CopiedRows {
    /// The values of all rows, row by row. Nil until the first row is there.
    private(set) var cells: UnsafeMutablePointer<ResultRows.Cell>?
    private(set) var count = 0
    private(set) var columnCount = 0
    /// The sum of the sizes of the messages.
    private(set) var size = 0
    /// The messages. The cells refer to their bytes.
    private var messages: [UnsafeRawPointer] = []
    private let capacity: Int

    /// The signature of the form, before its flags and the length of an extension.
    private static let signature = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0]

    /// Makes an empty list with room for `capacity` rows.
    init(expecting capacity: Int) { self.capacity = capacity }

    deinit {
      cells?.deallocate()
      for message in messages { PQfreemem(UnsafeMutableRawPointer(mutating: message)) }
    }

    /// Adds the row in a message of libpq, which the list owns from now on. The first message of a `COPY` begins with a
    /// header, and the last one has no row. Returns false for a damaged message.
    func add(_ message: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
      guard let base = message.baseAddress else { return false }
      messages.append(base)
      size += message.count
      var place = 0
      if isFirst {
        guard message.starts(with: Self.signature) else { return false }
        place = Self.signature.count + 4
        guard let length: Int32 = Self.number(message, &place), length >= 0 else { return false }
        place += Int(length)
      }
      guard let number: Int16 = Self.number(message, &place) else { return false }
      if number == -1 { return place == message.count }
      if cells == nil {
        columnCount = Int(number)
        cells = .allocate(capacity: max(1, columnCount * capacity))
      }
      guard Int(number) == columnCount, count < capacity, let row = cells?.advanced(by: count * columnCount) else {
        return false
      }
      for column in 0..<columnCount {
        guard let length: Int32 = Self.number(message, &place) else { return false }
        guard message.count - place >= length else { return false }
        row[column] = ResultRows.Cell(start: length < 0 ? nil : base + place, length: max(0, Int(length)))
        place += max(0, Int(length))
      }
      count += 1
      return place == message.count
    }

    /// Reads a number, and moves the place behind it. Nil where the message ends.
    @inline(__always)
    private static func number<Number: FixedWidthInteger>(
      _ message: UnsafeRawBufferPointer, _ place: inout Int
    ) -> Number? {
      let size = MemoryLayout<Number>.size
      guard message.count - place >= size else { return nil }
      defer { place += size }
      return Number(bigEndian: message.loadUnaligned(fromByteOffset: place, as: Number.self))
    }
  }
#endif
