package import MoonbasePlatform

/// Bytes in PostgreSQL's network format, with numbers in big-endian order.
struct WireBytes {
  private(set) var bytes: ContiguousArray<UInt8> = []

  var count: Int { bytes.count }

  mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

  @inline(__always)
  mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  mutating func append(_ other: UnsafeRawBufferPointer) { bytes.append(contentsOf: other) }

  /// Replaces the four-byte number at a position.
  mutating func replace(at place: Int, with number: Int32) {
    withUnsafeBytes(of: number.bigEndian) { source in
      for (offset, byte) in source.enumerated() { bytes[place + offset] = byte }
    }
  }
}

/// A destination for the values of a statement's parameters.
package protocol ParameterSink {
  mutating func appendNull(_ type: PostgreSQLType)
  mutating func append(_ number: Int64)
  mutating func append(_ number: Double)
  mutating func append(_ bytes: UnsafeRawBufferPointer, as type: PostgreSQLType)
}

extension ParameterSink {
  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), as: .text) }
  }

  package mutating func append(_ uuid: UUID) { withUnsafeBytes(of: uuid.uuid) { append($0, as: .uuid) } }

  package mutating func append(_ data: Data) { data.withUnsafeBytes { append($0, as: .bytea) } }

  package mutating func append(_ number: NumericText) {
    number.wire.withUnsafeBytes { append($0, as: .numeric) }
  }
}

/// The parameters of a statement.
package struct Parameters: ParameterSink {
  struct Place {
    let type: UInt32
    /// Nil for NULL.
    let range: Range<Int>?
    /// The index of the parameter's array, if the parameter is an array.
    var array: Int?
  }

  private(set) var places: [Place] = []
  private(set) var wire = WireBytes()
  private(set) var arrays: [ArrayParameter] = []

  /// Makes an empty list.
  package init() {}

  /// The number of parameters.
  package var count: Int { places.count }

  package mutating func appendNull(_ type: PostgreSQLType) { places.append(Place(type: type.rawValue, range: nil)) }
  package mutating func append(_ number: Int64) { add(.bigint) { $0.append(number) } }
  package mutating func append(_ number: Double) { add(.double) { $0.append(number.bitPattern) } }
  package mutating func append(_ bytes: UnsafeRawBufferPointer, as type: PostgreSQLType) {
    add(type) { $0.append(bytes) }
  }

  /// Appends an array as one parameter.
  package mutating func append(_ array: consuming ArrayParameter) {
    array.finish()
    places.append(Place(type: array.type.array, range: nil, array: arrays.count))
    arrays.append(array)
  }

  /// Appends an array of keys.
  package mutating func append(_ keys: some Collection<Int64>) {
    var array = ArrayParameter(.bigint, expecting: keys.count)
    for key in keys { array.append(key) }
    append(array)
  }

  private mutating func add(_ type: PostgreSQLType, _ write: (inout WireBytes) -> Void) {
    let start = wire.count
    write(&wire)
    places.append(Place(type: type.rawValue, range: start..<wire.count))
  }
}

extension Parameters: CustomStringConvertible {
  /// The values, as a log shows them. For an array the number of its elements.
  package var description: String {
    places.map { place in
      if let array = place.array { return "\(arrays[array].count) values" }
      guard let range = place.range else { return "NULL" }
      return wire.bytes[range].withUnsafeBytes { bytes in
        switch PostgreSQLType(rawValue: place.type) {
        case .bigint: "\(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))"
        case .double: "\(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))"
        case .numeric: NumericText(wire: bytes)?.text ?? "?"
        case .text: "'" + String(decoding: bytes, as: UTF8.self) + "'"
        case .uuid where bytes.count == 16: UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString
        case .bytea, .uuid, nil: "\(bytes.count) bytes"
        }
      }
    }.joined(separator: ", ")
  }
}

/// An array as a single parameter: a column of rows that are inserted together, or a list of keys.
package struct ArrayParameter: ParameterSink {
  /// The type of the elements.
  package let type: PostgreSQLType
  private(set) var wire = WireBytes()
  /// The number of elements.
  package private(set) var count = 0
  private var hasNull = false

  private static let flagsPlace = 4
  private static let countPlace = 12

  /// Makes an empty array for an expected number of elements.
  package init(_ type: PostgreSQLType, expecting count: Int = 0) {
    self.type = type
    wire.reserveCapacity(20 + 12 * count)
    // Dimensions, flags, type of the elements, length, first index.
    for number in [1, 0, Int32(bitPattern: type.rawValue), 0, 1] as [Int32] { wire.append(number) }
  }

  /// The size of the parameter in bytes.
  package var size: Int { wire.count }

  package mutating func appendNull(_ type: PostgreSQLType) {
    wire.append(Int32(-1))
    count += 1
    hasNull = true
  }

  package mutating func append(_ number: Int64) {
    wire.append(Int32(8))
    wire.append(number)
    count += 1
  }

  package mutating func append(_ number: Double) {
    wire.append(Int32(8))
    wire.append(number.bitPattern)
    count += 1
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer, as type: PostgreSQLType) {
    wire.append(Int32(bytes.count))
    wire.append(bytes)
    count += 1
  }

  /// Completes the array's header.
  mutating func finish() {
    wire.replace(at: Self.flagsPlace, with: hasNull ? 1 : 0)
    wire.replace(at: Self.countPlace, with: Int32(count))
  }
}

/// Rows for `COPY ... FROM STDIN` in binary form. Each row has all its values, in the order of the columns.
package struct CopyRows: ParameterSink {
  private(set) var wire = WireBytes()
  /// The number of rows.
  package private(set) var count = 0

  /// The signature of the form, then flags and the length of an extension, both zero.
  private static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Makes an empty list.
  package init() { Self.header.withUnsafeBytes { wire.append($0) } }

  /// Begins a row with a number of values.
  package mutating func beginRow(columnCount: Int) {
    wire.append(Int16(columnCount))
    count += 1
  }

  package mutating func appendNull(_ type: PostgreSQLType) { wire.append(Int32(-1)) }

  package mutating func append(_ number: Int64) {
    wire.append(Int32(8))
    wire.append(number)
  }

  package mutating func append(_ number: Double) {
    wire.append(Int32(8))
    wire.append(number.bitPattern)
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer, as type: PostgreSQLType) {
    wire.append(Int32(bytes.count))
    wire.append(bytes)
  }

  /// Appends the end of the rows.
  mutating func finish() { wire.append(Int16(-1)) }
}
