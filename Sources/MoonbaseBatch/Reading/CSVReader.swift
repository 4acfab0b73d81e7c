import MoonbaseModel
import MoonbasePlatform

/// Reads csv by RFC 4180: quotes, separators and line breaks within quotes, any form of line break. An empty field is
/// no value, `""` is the empty text.
///
/// The reader scans each record within the window of `InputBytes` and keeps only the places of its
/// fields. Texts are copied for one reason only: doubled quotes must be unescaped. A reader is
/// confined to the thread of its import.
///
/// Errors of a record are `InputError.malformed` with the line. The reader then continues after the
/// record, or after its first line if the record cannot be scanned.
///
/// For example, `a,"b ""c""",` has the fields `a`, `b "c"` and no value.
final class CSVReader: RecordReader {
  /// The place of a field of the current record.
  private struct Span {
    /// Either `none`, for no value, or `text`.
    var kind: InputField.Kind
    /// The position in the record, or in `unescaped`.
    var start: Int
    /// The length in bytes, without the quotes.
    var count: Int
    /// Whether the text lies in `unescaped` and not in the window.
    var isUnescaped: Bool
  }

  /// The byte `"`.
  private static let quote = UInt8(ascii: "\"")
  /// The line feed.
  private static let feed: UInt8 = 10
  /// The carriage return, which is also accepted alone as a line end.
  private static let `return`: UInt8 = 13

  /// The names from the first line, or `column1`, `column2` and so on.
  private(set) var names: [String] = []
  /// The line on which the current record begins.
  private(set) var line: Int64 = 1
  /// The line on which the next record begins.
  var endLine: Int64 { line + lines }
  /// The position of the current record in the input, in bytes.
  private(set) var recordStart: Int64 = 0
  /// The position behind the line break of the current record.
  var recordEnd: Int64 { bytes.offset + Int64(length) }
  /// The bytes of the current record, with its line break.
  var record: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: length) }

  /// The window, which always begins at the current record.
  private let bytes: InputBytes
  /// The byte that separates fields.
  let separator: UInt8
  /// The trailing columns without a name, which may not have values.
  private var unnamed = 0
  /// The unquoted text that stands for no value, beside the empty one.
  private let null: [UInt8]
  /// Further unquoted texts for no value.
  private let otherNulls: [[UInt8]]
  /// The fields of the current record, in the order of the columns.
  private var spans: [Span] = []
  /// The texts with doubled quotes, unescaped.
  private var unescaped: [UInt8] = []
  /// The length of the record with its line break, and its number of lines.
  private var length = 0
  /// The number of line breaks in the record, including those within quotes.
  private var lines: Int64 = 0

  /// Reads the line of names, if there is one. A missing separator is guessed, unless a first line such as `sep=;`
  /// names it.
  ///
  /// - Parameters:
  ///   - bytes: The window on the input.
  ///   - given: The separator from the command line; nil to detect it.
  ///   - nulls: The unquoted texts for no value, such as `NULL`.
  ///   - hasNames: Whether the first record contains the names of the columns.
  ///
  /// Throws `InputError.malformed` for an empty file, and for names that are missing, doubled or
  /// not UTF-8.
  init(_ bytes: InputBytes, separator given: UInt8?, nulls: [String] = [""], hasNames: Bool = true) throws {
    (self.bytes, null) = (bytes, Array((nulls.first ?? "").utf8))
    otherNulls = nulls.dropFirst().map { Array($0.utf8) }
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
    try hasNames ? adoptHeader() : makeNames()
  }

  /// The separator in a line such as `sep=;`, which spreadsheets write.
  ///
  /// Returns nil for any other line.
  private static func statedSeparator(_ line: UnsafeBufferPointer<UInt8>) -> UInt8? {
    let text = line.filter { $0 != quote && $0 != feed && $0 != `return` }
    guard text.count == 5, String(decoding: text.prefix(4), as: UTF8.self).lowercased() == "sep=" else { return nil }
    return text[4]
  }

  /// Takes the names from the record just read.
  ///
  /// Trailing columns without a name are counted in `unnamed`, because spreadsheets often write
  /// them. Throws `InputError.malformed` for an empty name between others and for a name that
  /// occurs twice.
  private func adoptHeader() throws {
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

  /// Advances to the next record.
  ///
  /// Throws `InputError.malformed` if the number of fields differs from the number of columns, and
  /// if a field of an unnamed column has a value.
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

  /// The field of a column in the current record. Its bytes are valid until the next call of
  /// `next`.
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

  /// Continues at a position that `recordEnd` reported in an earlier run.
  func skip(to offset: Int64, line: Int64) throws {
    passOver()
    try bytes.skip(to: offset)
    self.line = line
  }

  // MARK: Records

  /// Advances the window past the current record.
  private func passOver() {
    bytes.advance(by: length)
    line += lines
    (length, lines) = (0, 0)
  }

  /// Reads the next record of any width.
  ///
  /// The window grows until the record fits. A record that cannot be scanned is passed over, so
  /// that the reader continues with the line after it.
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
  ///
  /// Skips empty lines between records, and reads more data where the window is empty. Returns
  /// false at the end of the input.
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
  ///
  /// The scan is linear in the length of the record. Each field becomes a `Span`; the length and
  /// the number of lines are stored for `passOver`.
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
        let isNull =
          length == null.count && (length == 0 || memcmp(start + from, null, length) == 0)
          || !otherNulls.isEmpty
            && otherNulls.contains { $0.elementsEqual(UnsafeBufferPointer(start: start + from, count: length)) }
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
  ///
  /// - Parameters:
  ///   - start: The beginning of the record in the window.
  ///   - count: The number of bytes in the window.
  ///   - place: The position of the opening quote.
  ///   - feeds: The number of line feeds seen in the record, which is increased.
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
