import MoonbasePlatform

/// Reads objects: a single object per line (ndjson), or those of an array (json).
///
/// An unreadable line is skipped, and so is an unreadable element of an array if its end is known. Otherwise the array
/// ends there, because the beginning of the next object is unknown.
final class JSONReader: RecordReader {
  private struct Span {
    var kind = InputField.Kind.none
    var start = 0
    var count = 0
    var isUnescaped = false
    /// The record in which it was last seen.
    var record = 0
  }

  private static let greatestColumns = 10_000

  private(set) var names: [String] = []
  private(set) var line: Int64 = 1
  var endLine: Int64 { line + lines }
  private(set) var recordStart: Int64 = 0
  var recordEnd: Int64 { bytes.offset + Int64(length) }
  var record: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: recordLength)
  }

  private let bytes: InputBytes
  private let isArray: Bool
  private var isOver = false
  private var indexes: [String: Int] = [:]
  private var spans: [Span] = []
  private var unescaped: [UInt8] = []
  private var number = 0
  /// The length of the record, its length with the bytes up to the next record, and the number of lines.
  private var recordLength = 0
  private var length = 0
  private var lines: Int64 = 0
  /// The position of the line in which the record begins.
  private var lineStart: Int64 = 0
  /// The mistake in a record that can be read to its end.
  private var fault: String?

  /// Reads an array, or an object per line.
  init(_ bytes: InputBytes, isArray: Bool) throws {
    (self.bytes, self.isArray) = (bytes, isArray)
    try bytes.skipMark()
    if isArray { try begin() }
  }

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

  private static func phrase(_ kind: InputField.Kind, isList: Bool) -> String {
    switch kind {
    case .text: "a text"
    case .number: "a number"
    case .bool: "a truth value"
    case .nested: isList ? "a list" : "an object"
    case .none, .missing, .binary: "null"
    }
  }

  private func scanObject(_ scanner: inout JSONScanner, _ window: UnsafeRawBufferPointer) throws {
    try scanner.take("{")
    if try scanner.passOver("}") { return }
    var guess = 0
    repeat {
      let (nameRange, isEscaped) = try scanner.string()
      let column = column(UnsafeRawBufferPointer(rebasing: window[nameRange]), isEscaped, guess)
      try scanner.take(":")
      let value = try scanner.value()
      guard let column else { continue }
      guess = column + 1
      if spans[column].record == number { blame("the name \"\(names[column])\" comes twice") }
      spans[column] = span(value, window)
    } while try scanner.passOver(",")
    try scanner.take("}")
  }

  /// Records a mistake in an object whose end can be found. The first mistake is kept.
  private func blame(_ what: String) { fault = fault ?? what }

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
    if isLast { try scanner.take("]") }
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
