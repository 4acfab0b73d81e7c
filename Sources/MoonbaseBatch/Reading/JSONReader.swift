import MoonbasePlatform

/// Reads objects: a single object per line (ndjson), or those of an array (json).
///
/// An unreadable line is skipped, and so is an unreadable element of an array if its end is known. Otherwise the array
/// ends there, because the beginning of the next object is unknown.
///
/// The names of all objects seen so far are the columns, in order of first appearance. The reader
/// keeps the places of the values and not the values, as `CSVReader` does, and is confined to the
/// thread of its import.
///
/// For example, `{"name": "Ada", "age": 36}` is a record with the columns `name` and `age`.
final class JSONReader: RecordReader {
  /// The place of the value of a column.
  private struct Span {
    var kind = InputField.Kind.none
    /// The position in the record, or in `unescaped`.
    var start = 0
    /// The length in bytes, without the quotes of a text.
    var count = 0
    /// Whether the text had escapes, so that it lies in `unescaped`.
    var isUnescaped = false
    /// The record in which it was last seen.
    var record = 0
  }

  /// The most different names in an input. More names indicate objects used as dictionaries.
  private static let greatestColumns = 10_000

  /// The names of the columns, in order of appearance.
  private(set) var names: [String] = []
  /// The line on which the current record begins.
  private(set) var line: Int64 = 1
  /// The line on which the next record may begin.
  var endLine: Int64 { line + lines }
  /// The position of the current record in the input, in bytes.
  private(set) var recordStart: Int64 = 0
  /// The position behind the record and the comma or line break after it.
  var recordEnd: Int64 { bytes.offset + Int64(length) }
  /// The bytes of the object, without the comma or line break after it.
  var record: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: recordLength)
  }

  /// The window, which begins at the current record.
  private let bytes: InputBytes
  /// Whether the input is an array of objects; otherwise each line has an object.
  private let isArray: Bool
  /// Whether the end of the array was read.
  private var isOver = false
  /// The columns by name.
  private var indexes: [String: Int] = [:]
  /// The values of the current record by column. A span of an earlier `record` means a missing
  /// column.
  private var spans: [Span] = []
  /// The texts of the current record that had escapes.
  private var unescaped: [UInt8] = []
  /// The number of the current record, for comparison with `Span.record`.
  private var number = 0
  /// The length of the record, its length with the bytes up to the next record, and the number of lines.
  private var recordLength = 0
  /// The length up to the next record, in bytes.
  private var length = 0
  private var lines: Int64 = 0
  /// The position of the line in which the record begins.
  private var lineStart: Int64 = 0
  /// The mistake in a record that can be read to its end.
  private var fault: String?

  /// Reads an array, or an object per line.
  ///
  /// Throws `InputError.malformed` for an array that does not begin with `[`, and for an empty
  /// file.
  init(_ bytes: InputBytes, isArray: Bool) throws {
    (self.bytes, self.isArray) = (bytes, isArray)
    try bytes.skipMark()
    if isArray { try begin() }
  }

  /// Reads the beginning of the array.
  private func begin() throws {
    guard try skipSpace() else {
      throw InputError.malformed("the file is empty: an array of objects is expected", line: 1)
    }
    guard bytes.base[bytes.start] == UInt8(ascii: "[") else {
      throw InputError.malformed("an array of objects is expected; an object a line is --format ndjson", line: line)
    }
    bytes.advance(by: 1)
    guard try skipSpace() else { throw InputError.unreadable("line \(line): the array does not end") }
    if bytes.base[bytes.start] == UInt8(ascii: "]") { try finish() }
  }

  /// Advances to the next object.
  ///
  /// Throws `InputError.malformed` for an unreadable line, or an element that is no object or has a
  /// name twice. Throws `InputError.unreadable` for an array whose next element cannot be found.
  func next() throws -> Bool {
    passOver()
    if isOver {
      guard try !skipSpace() else { throw InputError.unreadable("line \(line): something follows the array") }
      return false
    }
    guard try skipSpace() else {
      if isArray { throw InputError.unreadable("line \(line): the array does not end") }
      return false
    }
    recordStart = bytes.offset
    if !isArray { try findLine() }
    while true {
      number += 1
      unescaped.removeAll(keepingCapacity: true)
      fault = nil
      let window = UnsafeRawBufferPointer(
        start: bytes.base + bytes.start, count: isArray ? bytes.count : recordLength)
      var scanner = JSONScanner(window, isWhole: isArray ? bytes.isAtEnd : true)
      do {
        try scan(&scanner, window)
        if isArray { try close(&scanner) }
        if let fault { throw InputError.malformed(fault, line: line) }
        return true
      } catch JSONScanner.Problem.short {
        do { _ = try bytes.more() } catch InputError.recordTooLong {
          throw InputError.unreadable("line \(line): an object has more than \(InputBytes.greatestRecord >> 20) MiB")
        }
      } catch JSONScanner.Problem.wrong(let what, let place) {
        let feeds = Int64(window.prefix(place).count { $0 == 10 })
        let before = window.prefix(place).lastIndex(of: 10).map { -$0 - 1 } ?? Int(recordStart - lineStart)
        let column = before + place + 1
        let message = "column \(column): \(what)"
        guard isArray else { throw InputError.malformed(message, line: line) }
        throw InputError.unreadable("line \(line + feeds), \(message)")
      }
    }
  }

  /// The field of a column; `missing` if the current object lacks the name.
  func field(_ column: Int) -> InputField {
    let span = spans[column]
    guard span.record == number else { return .missing }
    guard span.kind != .none else { return .none }
    if span.isUnescaped {
      return unescaped.withUnsafeBytes {
        InputField(kind: span.kind, bytes: UnsafeRawBufferPointer(rebasing: $0[span.start..<span.start + span.count]))
      }
    }
    return InputField(
      kind: span.kind,
      bytes: UnsafeRawBufferPointer(start: bytes.base + bytes.start + span.start, count: span.count))
  }

  /// Continues at a position that `recordEnd` reported in an earlier run.
  func skip(to offset: Int64, line: Int64) throws {
    (length, lines) = (0, 0)
    try bytes.skip(to: offset)
    (self.line, lineStart) = (line, offset)
    guard isArray, try skipSpace() else { return }
    if bytes.base[bytes.start] == UInt8(ascii: "]") { try finish() }
  }

  // MARK: Records

  /// Advances past the record.
  private func passOver() {
    if lines > 0, let last = UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: length).lastIndex(of: 10) {
      lineStart = bytes.offset + Int64(last) + 1
    }
    bytes.advance(by: length)
    line += lines
    (length, recordLength, lines) = (0, 0, 0)
  }

  /// Returns false at the end.
  ///
  /// Skips white space and counts its lines.
  private func skipSpace() throws -> Bool {
    while true {
      while bytes.count > 0 {
        switch bytes.base[bytes.start] {
        case 0x0a:
          line += 1
          lineStart = bytes.offset + 1
        case 0x20, 0x0d, 0x09: break
        default: return true
        }
        bytes.advance(by: 1)
      }
      guard try bytes.more() else { return false }
    }
  }

  /// The record is the rest of the line.
  ///
  /// Throws `InputError.unreadable` for a line longer than `InputBytes.greatestRecord`.
  private func findLine() throws {
    var from = 0
    while true {
      if let found = memchr(bytes.base + bytes.start + from, 10, bytes.count - from) {
        recordLength = found.assumingMemoryBound(to: UInt8.self) - (bytes.base + bytes.start)
        (length, lines) = (recordLength + 1, 1)
        return
      }
      from = bytes.count
      do {
        guard try bytes.more() else {
          (recordLength, length) = (bytes.count, bytes.count)
          return
        }
      } catch InputError.recordTooLong {
        throw InputError.unreadable("line \(line) has more than \(InputBytes.greatestRecord >> 20) MiB")
      }
    }
  }

  /// Scans a record, and notes a `fault` if it is readable and no object.
  private func scan(_ scanner: inout JSONScanner, _ window: UnsafeRawBufferPointer) throws {
    if try scanner.peek() == UInt8(ascii: "{") {
      try scanObject(&scanner, window)
    } else {
      let (kind, range, _) = try scanner.value()
      fault = "an object is expected, found \(Self.phrase(kind, isList: window[range.lowerBound] == UInt8(ascii: "[")))"
    }
    if isArray { recordLength = scanner.place }
    if !isArray, try scanner.peek() != nil {
      throw JSONScanner.Problem.wrong("the line goes on behind its object", at: scanner.place)
    }
  }

  /// The kind of a value in the words of a message.
  private static func phrase(_ kind: InputField.Kind, isList: Bool) -> String {
    switch kind {
    case .text: "a text"
    case .number: "a number"
    case .bool: "a truth value"
    case .nested: isList ? "a list" : "an object"
    case .none, .missing, .binary: "null"
    }
  }

  /// Scans the members of an object into `spans`.
  ///
  /// The order of names is usually the same in all records. So the column after the previous one is
  /// tried first, which avoids a search in most cases.
  private func scanObject(_ scanner: inout JSONScanner, _ window: UnsafeRawBufferPointer) throws {
    try scanner.consume("{")
    if try scanner.passOver("}") { return }
    var guess = 0
    repeat {
      let (nameRange, isEscaped) = try scanner.string()
      let column = column(UnsafeRawBufferPointer(rebasing: window[nameRange]), isEscaped, guess)
      try scanner.consume(":")
      let value = try scanner.value()
      guard let column else { continue }
      guess = column + 1
      if spans[column].record == number { blame("the name \"\(names[column])\" comes twice") }
      spans[column] = span(value, window)
    } while try scanner.passOver(",")
    try scanner.consume("}")
  }

  /// Records a mistake in an object whose end can be found. The first mistake is kept.
  private func blame(_ what: String) { fault = fault ?? what }

  /// The place of a value, whose text is unescaped if needed.
  private func span(
    _ value: (kind: InputField.Kind, bytes: Range<Int>, isEscaped: Bool), _ window: UnsafeRawBufferPointer
  ) -> Span {
    guard value.isEscaped else {
      return Span(
        kind: value.kind, start: value.bytes.lowerBound, count: value.bytes.count, isUnescaped: false, record: number)
    }
    let start = unescaped.count
    _ = unescape(UnsafeRawBufferPointer(rebasing: window[value.bytes]), into: &unescaped)
    return Span(kind: value.kind, start: start, count: unescaped.count - start, isUnescaped: true, record: number)
  }

  /// Returns false for an invalid escape.
  ///
  /// The invalid escape is recorded as the mistake of the record.
  private func unescape(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) -> Bool {
    do {
      try JSONScanner.unescape(bytes, into: &text)
      return true
    } catch JSONScanner.Problem.wrong(let what, let place) {
      let near = String(decoding: bytes[max(0, place - 20)..<min(bytes.count, place + 20)], as: UTF8.self)
      blame("\(what), in \"\(near)\"")
    } catch {
      blame("\(error)")
    }
    return false
  }

  /// Parses the end of an array's element: a comma, or the array's end.
  private func close(_ scanner: inout JSONScanner) throws {
    let isLast = try !scanner.passOver(",")
    if isLast { try scanner.consume("]") }
    length = scanner.place
    lines = Int64(UnsafeBufferPointer(start: bytes.base + bytes.start, count: length).count { $0 == 10 })
    if isLast { isOver = true }
  }

  private func finish() throws {
    bytes.advance(by: 1)
    isOver = true
    guard try !skipSpace() else { throw InputError.malformed("something follows the array", line: line) }
  }

  /// The column of a name, which usually is at the guessed index; nil if there are too many columns.
  private func column(_ bytes: UnsafeRawBufferPointer, _ isEscaped: Bool, _ guess: Int) -> Int? {
    if !isEscaped, guess < names.count, names[guess].utf8.elementsEqual(bytes) { return guess }
    var copy: [UInt8] = []
    if isEscaped {
      guard unescape(bytes, into: &copy) else { return nil }
    } else {
      copy = Array(bytes)
    }
    guard let name = String(validating: copy, as: UTF8.self) else {
      blame("a name is not UTF-8")
      return nil
    }
    if let known = indexes[name] { return known }
    guard names.count < Self.greatestColumns else {
      blame("there are more than \(Self.greatestColumns) names")
      return nil
    }
    names.append(name)
    spans.append(Span())
    indexes[name] = names.count - 1
    return names.count - 1
  }
}
