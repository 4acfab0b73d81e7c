#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Decodes a column. The server guarantees the type, so only numbers out of range, NaN and texts that are no URIs can
  /// be invalid.
  enum ColumnReader {
    /// Decodes a column into a slot of the page's current row.
    @inline(__always)
    static func read(
      _ kind: ColumnKind, of rows: ResultRows, row: Int, column: Int, into page: RowPageBuilder, slot: Slot
    ) throws(ColumnMismatch) {
      if rows.isNull(row, column) { return }
      switch kind {
      case .integer64: page.set(integer: rows.integer(row, column), slot: slot)
      case .double, .float:
        let number = rows.double(row, column)
        if number.isNaN { throw mismatch(kind, of: rows, row: row, column: column) }
        page.set(double: number, slot: slot)
      case .date:
        let seconds = rows.double(row, column)
        if seconds.isNaN { throw mismatch(kind, of: rows, row: row, column: column) }
        page.set(date: seconds, slot: slot)
      case .string: page.set(text: rows.bytes(row, column), slot: slot)
      case .data, .externalData: page.set(data: rows.bytes(row, column), slot: slot)
      case .integer16, .integer32, .boolean, .decimal, .uuid, .uri:
        page.set(try value(kind, of: rows, row: row, column: column), slot: slot)
      }
    }

    /// Decodes a column to a value, without a page.
    static func value(
      _ kind: ColumnKind, of rows: ResultRows, row: Int, column: Int
    ) throws(ColumnMismatch) -> Value {
      if rows.isNull(row, column) { return .null }
      let value: Value? =
        switch kind {
        case .integer64: .int(rows.integer(row, column))
        case .integer16: Int16(exactly: rows.integer(row, column)).map { .int(Int64($0)) }
        case .integer32: Int32(exactly: rows.integer(row, column)).map { .int(Int64($0)) }
        case .boolean: (0...1).contains(rows.integer(row, column)) ? .bool(rows.integer(row, column) == 1) : nil
        case .double, .float: rows.double(row, column).isNaN ? nil : .double(rows.double(row, column))
        case .date:
          rows.double(row, column).isNaN
            ? nil : .date(Date(timeIntervalSinceReferenceDate: rows.double(row, column)))
        case .string: .string(rows.text(row, column))
        case .data, .externalData: .data(rows.data(row, column))
        case .decimal: decimal(rows.bytes(row, column))
        case .uuid: rows.uuid(row, column).map { .uuid($0) }
        case .uri: uri(rows.text(row, column))
        }
      if let value { return value }
      throw mismatch(kind, of: rows, row: row, column: column)
    }

    /// The error for a value that other programs wrote and that the attribute cannot have.
    private static func mismatch(
      _ kind: ColumnKind, of rows: ResultRows, row: Int, column: Int
    ) -> ColumnMismatch {
      let found: String =
        switch kind.type {
        case .bigint: "\(rows.integer(row, column))"
        case .text: "the text \(rows.text(row, column).prefix(60).debugDescription)"
        case .numeric: NumericText(wire: rows.bytes(row, column))?.text ?? "NaN or infinity"
        case .double: "NaN"
        case .bytea, .uuid: "\(rows.bytes(row, column).count) bytes"
        }
      var hasher = Hasher()
      hasher.combine(bytes: rows.bytes(row, column))
      return ColumnMismatch("holds \(found), which is no \(kind.valueName)", digest: hasher.finalize())
    }

    private static func decimal(_ bytes: UnsafeRawBufferPointer) -> Value? {
      guard let text = NumericText(wire: bytes)?.text else { return nil }
      return text == NumericText.leastText ? .decimal(.nan) : Decimal(literal: text).map { .decimal($0) }
    }

    /// Nil for a text that Foundation would write differently.
    private static func uri(_ text: String) -> Value? {
      guard let url = URL(string: text), url.absoluteString == text else { return nil }
      return .uri(url)
    }
  }

  /// Assembles the value of a composite attribute from the columns of its elements.
  struct CompositeReader: Sendable {
    private let attribute: AttributeDescription
    private let leaves: [(path: [String], kind: ColumnKind, column: Int)]

    init(_ composite: RowSelect.Composite) {
      attribute = composite.layout.attribute
      leaves = zip(composite.layout.leaves, composite.places).compactMap { leaf, place in
        if case .attribute(let kind, let column) = place { (leaf.path, kind, Int(column)) } else { nil }
      }
    }

    /// Returns null where no element has a value.
    func value(_ rows: ResultRows, row: Int) throws(ColumnMismatch) -> Value {
      var index = 0
      return try attribute.assembled { () throws(ColumnMismatch) -> Value in
        let leaf = leaves[index]
        index += 1
        do throws(ColumnMismatch) {
          return try ColumnReader.value(leaf.kind, of: rows, row: row, column: leaf.column)
        } catch {
          throw error.of(element: leaf.path)
        }
      }
    }
  }
#endif
