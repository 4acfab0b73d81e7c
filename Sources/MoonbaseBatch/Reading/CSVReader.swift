import MoonbaseModel
import MoonbasePlatform

/// Reads csv by RFC 4180: quotes, separators and line breaks within quotes, any form of line break. An empty field is
/// no value, `""` is the empty text.
final class CSVReader: RecordReader {
  private struct Span {
    var kind: InputField.Kind
    /// The position in the record, or in `unescaped`.
    var start: Int
    var count: Int
    var isUnescaped: Bool
  }

  private static let quote = UInt8(ascii: "\"")
  private static let feed: UInt8 = 10
  private static let `return`: UInt8 = 13

  private(set) var names: [String] = []
  private(set) var line: Int64 = 1
  var endLine: Int64 { line + lines }
  private(set) var recordStart: Int64 = 0
  var recordEnd: Int64 { bytes.offset + Int64(length) }
  var record: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: length) }

  private let bytes: InputBytes
  /// The byte that separates fields.
  let separator: UInt8
  /// The trailing columns without a name, which may not have values.
  private var unnamed = 0
  private let null: [UInt8]
  private var spans: [Span] = []
  /// The texts with doubled quotes, unescaped.
  private var unescaped: [UInt8] = []
  /// The length of the record with its line break, and its number of lines.
  private var length = 0
  private var lines: Int64 = 0

  /// Reads the line of names, if there is one. A missing separator is guessed, unless a first line such as `sep=;`
  /// names it.
  init(_ bytes: InputBytes, separator given: UInt8?, null: String = "", hasNames: Bool = true) throws {
    (self.bytes, self.null) = (bytes, Array(null.utf8))
    try bytes.skipMark()
    try bytes.fillLine()
    let stated = Self.statedSeparator(bytes.firstLine)
    if stated != nil {
      bytes.advance(by: bytes.firstLine.count)
      line += 1
      try bytes.fillLine()
    }
    let text = UnsafeBufferPointer(start: bytes.base + bytes.start, count: bytes.count)
    separator = given ?? stated ?? SeparatorGuess(text, isWhole: bytes.isAtEnd).separator
    guard try read() else {
      throw InputError.malformed("the file is empty: csv begins with a line of names", line: line)
    }
    try hasNames ? takeHeader() : makeNames()
  }

  /// The separator in a line such as `sep=;`, which spreadsheets write.
  private static func statedSeparator(_ line: UnsafeBufferPointer<UInt8>) -> UInt8? {
    let text = line.filter { $0 != quote && $0 != feed && $0 != `return` }
    guard text.count == 5, String(decoding: text.prefix(4), as: UTF8.self).lowercased() == "sep=" else { return nil }
    return text[4]
  }

  private func takeHeader() throws {
    var places: [String: Int] = [:]
    let isNamed = spans.indices.map { field($0).bytes.count > 0 }
    unnamed = isNamed.contains(true) ? isNamed.reversed().prefix { !$0 }.count : 0
    for index in spans.indices.dropLast(unnamed) {
      guard let name = field(index).text else {
        throw InputError.malformed("the name of column \(index + 1) is no UTF-8 text", line: line)
      }
      guard !name.isEmpty else { throw InputError.malformed("column \(index + 1) has no name", line: line) }
      if let first = places.updateValue(index, forKey: name) {
        throw InputError.malformed(
          "columns \(first + 1) and \(index + 1) are both named '\(TextLimits.beginning(of: name))'", line: line)
      }
      names.append(name)
    }
  }

  /// Without a line of names the columns are numbered, and the line just read is the first record.
  private func makeNames() {
    names = spans.indices.map { "column\($0 + 1)" }
    (length, lines) = (0, 0)
  }

  func next() throws -> Bool {
    guard try read() else { return false }
    guard spans.count == names.count || spans.count == names.count + unnamed else {
      throw InputError.malformed(
        "\(spans.count) field\(spans.count == 1 ? "" : "s") where \(names.count) are expected", line: line)
    }
    if let stray = spans.indices.dropFirst(names.count).first(where: { spans[$0].count > 0 }) {
      throw InputError.malformed("column \(stray + 1) has a value and no name in the first line", line: line)
    }
    return true
  }

  func field(_ column: Int) -> InputField {
    let span = spans[column]
    guard span.kind != .none else { return .none }
    guard span.isUnescaped else {
      return InputField(
        kind: .text, bytes: UnsafeRawBufferPointer(start: bytes.base + bytes.start + span.start, count: span.count))
    }
    return unescaped.withUnsafeBytes { all in
      InputField(kind: .text, bytes: UnsafeRawBufferPointer(rebasing: all[span.start..<span.start + span.count]))
    }
  }

  func skip(to offset: Int64, line: Int64) throws {
    passOver()
    try bytes.skip(to: offset)
    self.line = line
  }

  // MARK: Records

  private func passOver() {
    bytes.advance(by: length)
    line += lines
    (length, lines) = (0, 0)
  }

  /// Reads the next record of any width.
  private func read() throws -> Bool {
    passOver()
    guard try skipEmptyLines() else { return false }
    recordStart = bytes.offset
    while true {
      spans.removeAll(keepingCapacity: true)
      unescaped.removeAll(keepingCapacity: true)
      do {
        if try scan() { return true }
        // The record exceeds the window and is scanned again; windows double, so the time stays linear.
        _ = try bytes.more()
      } catch let error as InputError {
        switch error {
        case .unreadable, .interrupted: throw error
        case .malformed:
          try passOverLine()
          throw error
        case .recordTooLong:
          try passOverLine()
          throw InputError.malformed(
            "the record has more than \(InputBytes.greatestRecord >> 20) MiB: is a quote not closed?", line: line)
        }
      }
    }
  }

  /// With a single column an empty line is a row without a value.
  private func skipEmptyLines() throws -> Bool {
    while true {
      guard bytes.count > 0 else {
        guard try bytes.more() else { return false }
        continue
      }
      let letter = bytes.base[bytes.start]
      guard letter == Self.feed || letter == Self.return, names.count != 1 else { return true }
      if letter == Self.return, bytes.count == 1 { _ = try bytes.more() }
      let isPair = letter == Self.return && bytes.count > 1 && bytes.base[bytes.start + 1] == Self.feed
      bytes.advance(by: isPair ? 2 : 1)
      line += 1
    }
  }

  /// Skips the first line of an unreadable record. The next record begins after it.
  private func passOverLine() throws {
    var place = 0
    while true {
      while place < bytes.count {
        if bytes.base[bytes.start + place] == Self.feed {
          (length, lines) = (place + 1, 1)
          return
        }
        place += 1
      }
      do {
        guard try bytes.more() else { break }
      } catch InputError.recordTooLong {
        break
      }
    }
    (length, lines) = (place, 0)
  }

  /// Finds the fields of the record in the window. Returns false if the window is too small.
  private func scan() throws -> Bool {
    let start = bytes.base + bytes.start
    let (count, isAtEnd, separator) = (bytes.count, bytes.isAtEnd, separator)
    var place = 0
    var feeds: Int64 = 0
    while true {
      if place < count, start[place] == Self.quote {
        guard let stop = try scanQuoted(start, count, &place, &feeds) else { return false }
        place = stop
      } else {
        let from = place
        while place < count {
          let letter = start[place]
          if letter == separator || letter == Self.feed || letter == Self.return { break }
          if letter == Self.quote {
            throw InputError.malformed("a quote within a field that does not begin with one", line: line + feeds)
          }
          if letter == 0 { throw InputError.malformed("a NUL byte: is the file text?", line: line + feeds) }
          place += 1
        }
        if place == count, !isAtEnd { return false }
        let length = place - from
        let isNull = length == null.count && (length == 0 || memcmp(start + from, null, length) == 0)
        spans.append(Span(kind: isNull ? .none : .text, start: from, count: length, isUnescaped: false))
      }
      guard place < count else {
        if !isAtEnd { return false }
        (length, lines) = (place, feeds)
        return true
      }
      let letter = start[place]
      if letter == separator {
        place += 1
        continue
      }
      guard letter != Self.return || place + 1 < count || isAtEnd else { return false }
      let isPair = letter == Self.return && place + 1 < count && start[place + 1] == Self.feed
      (length, lines) = (place + (isPair ? 2 : 1), feeds + 1)
      return true
    }
  }

  /// Scans a quoted field. Returns its end, or nil if the window is too small.
  private func scanQuoted(
    _ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ place: inout Int, _ feeds: inout Int64
  ) throws -> Int? {
    let from = place + 1
    var at = from
    var piece = from
    var copied: Int?
    let first = feeds
    while true {
      guard let found = memchr(start + at, Int32(Self.quote), count - at) else {
        guard bytes.isAtEnd else { return nil }
        throw InputError.malformed("a quote is opened and not closed", line: line + first)
      }
      let stop = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - UnsafePointer(start)
      if stop + 1 == count, !bytes.isAtEnd { return nil }
      if stop + 1 < count, start[stop + 1] == Self.quote {
        if copied == nil { copied = unescaped.count }
        unescaped.append(contentsOf: UnsafeBufferPointer(start: start + piece, count: stop + 1 - piece))
        (at, piece) = (stop + 2, stop + 2)
        continue
      }
      for letter in UnsafeBufferPointer(start: start + from, count: stop - from) {
        if letter == Self.feed { feeds += 1 }
        if letter == 0 { throw InputError.malformed("a NUL byte: is the file text?", line: line + feeds) }
      }
      if let copied {
        unescaped.append(contentsOf: UnsafeBufferPointer(start: start + piece, count: stop - piece))
        spans.append(Span(kind: .text, start: copied, count: unescaped.count - copied, isUnescaped: true))
      } else {
        spans.append(Span(kind: .text, start: from, count: stop - from, isUnescaped: false))
      }
      if stop + 1 < count {
        let letter = start[stop + 1]
        guard letter == separator || letter == Self.feed || letter == Self.return else {
          throw InputError.malformed("a separator or a line end must follow the closing quote", line: line + feeds)
        }
      }
      return stop + 1
    }
  }
}
