import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseBatch

/// Records of csv and JSON, with any contents, wherever the read windows end.
@Suite struct RecordReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func bytes(_ text: [UInt8]) throws -> InputBytes {
    let url = folder.file("\(UUID().uuidString)")
    try Data(text).write(to: url)
    return InputBytes(open(url.path, O_RDONLY), closes: true)
  }

  /// Rows as lists of fields, nil for no value; a text for the error of a record.
  private func rows(_ reader: any RecordReader) throws -> [String] {
    var rows: [String] = []
    while true {
      do {
        guard try reader.next() else { return rows }
        let fields = reader.names.indices.map { index -> String in
          let field = reader.field(index)
          switch field.kind {
          case .missing: return "?"
          case .none: return "-"
          case .text: return "'\(field.shownText)'"
          case .number, .bool, .nested, .binary: return field.shownText
          }
        }
        rows.append("\(reader.line): \(fields.joined(separator: "|"))")
      } catch InputError.malformed(let what, let line) {
        rows.append("\(line)! \(what)")
      }
    }
  }

  private func csv(_ text: String, nulls: String...) throws -> [String] {
    try rows(CSVReader(bytes(Array(text.utf8)), separator: UInt8(ascii: ","), nulls: nulls.isEmpty ? [""] : nulls))
  }

  private func json(_ text: String, isArray: Bool = false) throws -> [String] {
    try rows(JSONReader(bytes(Array(text.utf8)), isArray: isArray))
  }

  // MARK: CSV

  @Test func fieldsQuotesAndLineEnds() throws {
    #expect(
      try csv("a,b,c\n1,,\"\"\r\n\"x, \"\"y\"\"\",\"two\nlines\",3\r4,5,6") == [
        "2: '1'|-|''", "3: 'x, \"y\"'|'two\nlines'|'3'", "5: '4'|'5'|'6'",
      ])
    #expect(try csv("a,b\n\n1,2\n\r\n\n3,4\n\n") == ["3: '1'|'2'", "6: '3'|'4'"])
    #expect(try csv("a\n\n1\n") == ["2: -", "3: '1'"])
    #expect(try csv("\u{FEFF}a,b\nNULL,\"NULL\"\n", nulls: "NULL") == ["2: -|'NULL'"])
    #expect(try csv("a,b,c\nN/A,,-\n", nulls: "N/A", "-") == ["2: -|''|-"])
    #expect(try csv("a,b\n") == [])
    #expect(try csv("a,b") == [])
  }

  @Test func whatIsWrongIsToldAndTheNextLineIsRead() throws {
    #expect(
      try csv("a,b\n1\n2,3,4\nx\"y,1\n\"z\"w,1\n5,6\n") == [
        "2! 1 field where 2 are expected", "3! 3 fields where 2 are expected",
        "4! a quote within a field that does not begin with one",
        "5! a separator or a line end must follow the closing quote", "6: '5'|'6'",
      ])
    #expect(try csv("a,b\n\"1,2\n3,4\n") == ["2! a quote is opened and not closed", "3: '3'|'4'"])
    #expect(try csv("a,b\n1,\0\n3,4\n") == ["2! a NUL byte: is the file text?", "3: '3'|'4'"])
  }

  @Test(arguments: ["", "\n\n", "a,,b\n", "a,b,a\n1,2,3\n"]) func aHeaderThatNamesNothingIsRefused(_ text: String) {
    #expect(throws: InputError.self) { try csv(text) }
  }

  // MARK: Separators and encodings

  @Test(arguments: [
    ("a;b\n1,5;2,5\n", "2: '1,5'|'2,5'"), ("a\tb\n1\t2\n", "2: '1'|'2'"), ("a|b\n1|2\n", "2: '1'|'2'"),
    ("a,b\n1;1,2;2\n", "2: '1;1'|'2;2'"), ("sep=;\r\na;b\r\n1;2\r\n", "3: '1'|'2'"),
    ("\"sep=|\"\na|b\n1|2\n", "3: '1'|'2'"),
    ("a\n1;2\n", "2: '1;2'"), ("\"a;b\";c\n1;\"2,;\"\n", "2: '1'|'2,;'"),
    ("a;b,c;d\n1;2;3\n4;5,5;6\n", "2: '1'|'2'|'3'"),
    ("a;b,c\n1;2,3\n", "2: '1;2'|'3'"),
  ])
  func theSeparatorIsThatOfTheFirstLines(_ text: String, _ first: String) throws {
    let reader = try CSVReader(bytes(Array(text.utf8)), separator: nil)
    #expect(try rows(reader).first == first)
  }

  @Test func aSeparatorThatIsGivenIsTaken() throws {
    #expect(try CSVReader(bytes(Array("sep=;\na;b|c;d\n".utf8)), separator: UInt8(ascii: "|")).names == ["a;b", "c;d"])
  }

  @Test func withoutALineOfNamesColumnsAreNumbered() throws {
    let reader = try CSVReader(bytes(Array("1,2\n3,4\n".utf8)), separator: nil, hasNames: false)
    #expect(reader.names == ["column1", "column2"])
    #expect(try rows(reader) == ["1: '1'|'2'", "2: '3'|'4'"])
  }

  @Test func emptyNamesAtTheEndArePassedOver() throws {
    #expect(
      try csv("a,b,,\n1,2,,\n3,4\n5,6,,7\n8,9,\n") == [
        "2: '1'|'2'", "3: '3'|'4'", "4! column 4 has a value and no name in the first line",
        "5! 3 fields where 2 are expected",
      ])
  }

  @Test(arguments: [
    ("windows-1252", "naïve;€"), ("ISO_8859-1", "naïve"), ("utf-16", "größe 名前"), ("UTF-16BE", "größe 名前"),
    ("utf-16le", "a"),
    ("utf-32le", "名前"), ("shift_jis", "名前"), ("ISO-2022-JP", "名前"), ("macintosh", "größe"), ("windows-1251", "имя"),
  ])
  func otherEncodingsAreConverted(_ name: String, _ word: String) throws {
    let encodings: [String: String.Encoding] = [
      "windows-1252": .windowsCP1252, "ISO_8859-1": .isoLatin1, "utf-16": .utf16, "UTF-16BE": .utf16BigEndian,
      "utf-16le": .utf16LittleEndian, "utf-32le": .utf32LittleEndian, "shift_jis": .shiftJIS, "ISO-2022-JP": .iso2022JP,
      "macintosh": .macOSRoman, "windows-1251": .windowsCP1251,
    ]
    // More than the part converted at once.
    let text = "a\n" + String(repeating: "\(word)\n", count: 9000)
    let encoded = try #require(encodings[name].flatMap { text.data(using: $0) })
    let encoding = try #require(TextEncoding(name))
    let source = EncodedSource(Chunks(Array(encoded)), encoding)
    let reader = try CSVReader(InputBytes(source), separator: 44)
    let found = try rows(reader)
    #expect(found.count == 9000 && Set(found.map { $0.drop { $0 != "'" } }) == ["'\(word)'"])
  }

  @Test func whatIsNoTextInAnEncodingIsTold() throws {
    let encoding = try #require(TextEncoding("ascii"))
    #expect(throws: InputError.self) {
      try CSVReader(InputBytes(EncodedSource(Chunks([97, 10, 0xe9, 10]), encoding)), separator: 44)
    }
    #expect(TextEncoding("klingon") == nil && TextEncoding("utf-8") == nil)
    for name in TextEncoding.names { #expect(TextEncoding(name) != nil || TextEncoding.isUTF8(name)) }
  }

  /// Bytes that arrive a few at a time.
  private final class Chunks: ByteSource {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
      let part = bytes.prefix(min(count, 4097))
      for (offset, byte) in part.enumerated() { target[offset] = byte }
      bytes = bytes.dropFirst(part.count)
      return part.count
    }
  }

  @Test func textInOtherEncodingsIsRefusedAtOnce() throws {
    for start: [UInt8] in [[0xff, 0xfe, 0x61, 0], [0xfe, 0xff, 0, 0x61], [0x61, 0, 0x2c, 0], [0, 0x5b, 0, 0x7b]] {
      #expect(throws: InputError.self) { try CSVReader(bytes(start), separator: 44) }
      #expect(throws: InputError.self) { try JSONReader(bytes(start), isArray: false) }
    }
  }

  /// Records of all lengths around the size of the window, compared with a reference that builds them.
  @Test func recordsOfAnyLengthAreReadWhereverWindowsEnd() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    var text = "a,b\n"
    var wanted: [(String, String)] = []
    for _ in 0..<300 {
      let length = random.next(10) == 0 ? Int(random.next(400_000)) : Int(random.next(3000))
      let field = String(repeating: ["x", "\"", "\n", ","][Int(random.next(4))], count: length) + "é"
      wanted.append((field, "\(length)"))
      text += "\"\(field.replacing("\"", with: "\"\""))\",\(length)\(["\n", "\r\n"][Int(random.next(2))])"
    }
    let reader = try CSVReader(bytes(Array(text.utf8)), separator: 44)
    for (field, length) in wanted {
      #expect(try reader.next())
      #expect(reader.field(0).text == field && reader.field(1).text == length)
    }
    #expect(try !reader.next())
  }

  @Test func aReaderGoesOnBehindWhatWasRead() throws {
    let text = "a,b\n1,\"2\n2\"\n\n3,4\n5,6\n"
    let reader = try CSVReader(bytes(Array(text.utf8)), separator: 44)
    #expect(try reader.next())
    let (end, line) = (reader.recordEnd, reader.endLine)
    let other = try CSVReader(bytes(Array(text.utf8)), separator: 44)
    try other.skip(to: end, line: line)
    #expect(try rows(other) == ["5: '3'|'4'", "6: '5'|'6'"])
  }

  // MARK: JSON

  @Test func objectsALineAndInAnArray() throws {
    let one = #"{"a": 1, "b": "x\"\u00e9\ud83d\ude00", "c": null}"#
    let two = #"{ "c" : [1, {"d": 2}], "a": -1.5e3, "e": true }"#
    let expected = [#"1: 1|'x"é😀'|-"#, #"2: -1.5e3|?|[1, {"d": 2}]|true"#]
    #expect(try json("\(one)\n\(two)\n") == expected)
    #expect(try json("[\(one),\n\(two)]\n", isArray: true) == expected)
    #expect(try json("[]", isArray: true) == [])
    #expect(try json("\n  \n") == [])
  }

  @Test(arguments: [
    #"{"a": 01}"#, #"{"a": 1,}"#, #"{"a" 1}"#, #"{"a": "x}"#, #"{"a": nul}"#, #"{"a": 1} 2"#,
    #"{"a": 1"#, "{\"a\": \"tab\u{9}\"}", #"{"a": .5}"#, #"{"a": 1.}"#, #"{"a": -}"#, #"{"a": [}"#, "nul", "[1", "7 8",
  ]) func aLineThatIsNoObjectIsToldAndTheNextOneIsRead(_ line: String) throws {
    let found = try json("{\"a\": 0}\n\(line)\n{\"a\": 9}\n")
    #expect(found.count == 3 && found[0] == "1: 0" && found[1].hasPrefix("2! column ") && found[2].hasPrefix("3: 9"))
    // The beginning of the array's next object is unknown.
    #expect(throws: InputError.self) { try json("[{\"a\": 0}, \(line), {\"a\": 9}]", isArray: true) }
  }

  /// The end of such an object is known, so only this object is lost, in an array too.
  @Test func anObjectWithANameTwiceIsToldAndTheNextOneIsRead() throws {
    let lines = [#"{"a": 0}"#, #"{"a": 1, "b": 2, "a": 3, "b": 4}"#, #"{"a": 9}"#]
    let expected = ["1: 0", "2! the name \"a\" comes twice", "3: 9|?"]
    #expect(try json(lines.joined(separator: "\n")) == expected)
    #expect(try json("[\(lines.joined(separator: ",\n"))]", isArray: true) == expected)
    let reader = try JSONReader(bytes(Array("[{\"a\": 1, \"a\": 2} , {}]".utf8)), isArray: true)
    #expect(throws: InputError.self) { try reader.next() }
    #expect(String(decoding: reader.record, as: UTF8.self) == "{\"a\": 1, \"a\": 2}")
  }

  /// The end of these values is known, so only they are lost, in an array too.
  @Test(arguments: [
    ("[1, {\"a\": 2}]", "an object is expected, found a list"), ("7", "an object is expected, found a number"),
    ("-1.5e3", "an object is expected, found a number"), (#""x\"y""#, "an object is expected, found a text"),
    ("null", "an object is expected, found null"), ("true", "an object is expected, found a truth value"),
    (#"{"a": "\x"}"#, #"'\' is followed by none of " \ / b f n r t u, in "\x""#),
    (#"{"a": "\ud800", "b": 1}"#, #"one half of a pair of surrogates, in "\ud800""#),
    (#"{"\ud800": 1}"#, #"one half of a pair of surrogates, in "\ud800""#),
  ]) func aValueThatIsNoObjectIsToldAndTheNextOneIsRead(_ value: String, _ reason: String) throws {
    let lines = [#"{"a": 0}"#, value, #"{"a": 9}"#]
    for isArray in [false, true] {
      let text = isArray ? "[\(lines.joined(separator: ",\n"))]" : lines.joined(separator: "\n")
      let found = try json(text, isArray: isArray)
      #expect(found.count == 3 && found[0] == "1: 0" && found[1] == "2! \(reason)", "\(found)")
      #expect(found.last?.hasPrefix("3: 9") == true, "\(found)")
      let first = try JSONReader(bytes(Array((isArray ? "[\(value) , {}]" : "\(value)\n{}").utf8)), isArray: isArray)
      #expect(throws: InputError.self) { try first.next() }
      #expect(String(decoding: first.record, as: UTF8.self) == value)
      #expect(try first.next() && !first.next())
    }
  }

  @Test func anArrayMayEndWithWhatIsNoObject() throws {
    #expect(try json("[{\"a\": 1}, 7]", isArray: true) == ["1: 1", "1! an object is expected, found a number"])
    #expect(try json("[7]", isArray: true) == ["1! an object is expected, found a number"])
  }

  /// An array is read through a window; an object at its edge is read again.
  @Test func objectsOfAnArrayAreReadOverTheEdgeOfAWindow() throws {
    let objects = (0..<40_000).map { "{\"number\": \($0), \"text\": \"t\($0)\"}" }
    let rows = try json("[\(objects.joined(separator: ", "))]", isArray: true)
    #expect(rows == (0..<40_000).map { "1: \($0)|'t\($0)'" })
  }

  @Test(arguments: [
    ("[{\"a\": 1}] x", "line 1: something follows the array"), ("[{}]\n\n]", "line 3: something follows the array"),
    ("[]\n{}", "something follows the array"),
    ("[{\"a\": 1}, {\"a\": 01}]", "line 1, column 18: "), ("[{},\n  {\"a\":\n 1}, {1}]", "line 3, column 7: "),
    ("[\n  {1}]", "line 2, column 4: "),
  ]) func whatIsWrongWithAnArrayIsToldWithItsPlace(_ text: String, _ message: String) throws {
    do {
      _ = try json(text, isArray: true)
      Issue.record("nothing was told")
    } catch let error as InputError {
      #expect("\(error)".contains(message), "\(error)")
    }
  }

  @Test func anArrayThatDoesNotEndIsTold() throws {
    for text in ["[", "[{\"a\": 1}", "[{\"a\": 1},", "{\"a\": 1}"] {
      #expect(throws: InputError.self) { try json(text, isArray: true) }
    }
  }

  @Test func deepListsAreRefusedAndNoStackIsLost() throws {
    let deep = String(repeating: "[", count: 1_000_000)
    #expect(try json("{\"a\": \(deep)}").first?.contains("levels") == true)
  }

  @Test func valuesOfJSONKeepTheirDigits() throws {
    func value(_ text: String) throws -> Value { try Array(text.utf8).withUnsafeBytes { try Value(json: $0) } }
    #expect(
      try value("[9007199254740993, 1.5, \"x\", null, true, {\"k\": []}]")
        == .list([9_007_199_254_740_993, 1.5, "x", .null, true, .map(["k": .list([])])]))
    #expect(throws: (any Error).self) { try value("1e999") }
    #expect(throws: (any Error).self) { try value("{\"a\": 1, \"a\": 2}") }
  }

  @Test func objectsOfAnArrayOfAnyLengthAreReadWhereverWindowsEnd() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    let texts = (0..<300).map { _ in
      String(repeating: "ab\\n", count: random.next(10) == 0 ? Int(random.next(100_000)) : Int(random.next(500)))
    }
    for isArray in [true, false] {
      let objects = texts.map { "{\"a\": \"\($0)\", \"b\": \($0.utf8.count)}" }
      let text = isArray ? "[" + objects.joined(separator: ",\n") + "]" : objects.joined(separator: "\n")
      let reader = try JSONReader(bytes(Array(text.utf8)), isArray: isArray)
      for text in texts {
        #expect(try reader.next())
        #expect(reader.field(0).text == text.replacing("\\n", with: "\n"))
        #expect(reader.field(1).text == "\(text.utf8.count)")
      }
      #expect(try !reader.next())
    }
  }
}
