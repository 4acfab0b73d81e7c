import MoonbaseModel
import MoonbasePlatform

/// Reads the subset of XML that models need: elements, attributes, text.
///
/// Written by hand for safety and line numbers: it opens no file, knows only XML's five entities and character
/// references, skips a document type without reading it, refuses one with declarations, and limits depth and size. It
/// does not validate.
///
/// The input is UTF-8, or UTF-16 with a byte order mark, of at most 64 MiB. Errors are
/// `.malformedFile` with the line.
struct MarkupReader {
  /// The most levels of elements.
  private static let greatestDepth = 100
  /// The greatest size of a file, in bytes.
  private static let greatestSize = 64 << 20
  /// The most attributes of an element, because they are searched linearly.
  private static let greatestAttributeCount = 1000

  /// The name of the file, for errors.
  private let file: String
  /// The file as UTF-8.
  private let bytes: [UInt8]
  /// The position of the next byte.
  private var position = 0
  /// The line of the next byte, from 1.
  private var line = 1

  /// The root element of a file.
  static func read(_ data: Data, file: String) throws(ModelError) -> MarkupElement {
    var reader = try MarkupReader(data, file: file)
    return try reader.document()
  }

  /// Throws `.malformedFile` for a file that is too large or no text.
  private init(_ data: Data, file: String) throws(ModelError) {
    self.file = file
    guard data.count <= Self.greatestSize else {
      throw ModelError(
        .malformedFile, message: "the file has more than \(Self.greatestSize >> 20) MiB", at: SourceLocation(file: file)
      )
    }
    var bytes = [UInt8](data)
    if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
      bytes = Array((String(data: data, encoding: .utf16) ?? "").utf8)
    } else if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
      bytes.removeFirst(3)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ModelError(.malformedFile, message: "the file is not in UTF-8: save it so", at: SourceLocation(file: file))
    }
    if let mistake = TextLimits.mistake(ofName: text) {
      throw ModelError(.malformedFile, message: "the file has \(mistake)", at: SourceLocation(file: file))
    }
    self.bytes = bytes
  }

  // MARK: Structure

  /// Reads the prolog, the root element and the rest.
  private mutating func document() throws(ModelError) -> MarkupElement {
    try skipMisc(allowingDocumentType: true)
    guard current == UInt8(ascii: "<") else { throw error("expected an XML element") }
    let root = try element(depth: 0)
    try skipMisc(allowingDocumentType: false)
    if position < bytes.count { throw error("there is something behind the end of <\(root.name)>") }
    return root
  }

  /// Skips white space, comments, processing instructions and a document type between elements.
  private mutating func skipMisc(allowingDocumentType: Bool) throws(ModelError) {
    while true {
      skipSpace()
      if try skipCommentOrInstruction() { continue }
      guard allowingDocumentType, looking(at: "<!DOCTYPE") else { return }
      try skipDocumentType()
    }
  }

  /// Skips a comment or a processing instruction. Returns false if there is neither.
  private mutating func skipCommentOrInstruction() throws(ModelError) -> Bool {
    if looking(at: "<!--") {
      advance(4)
      try skip(past: "-->", of: "a comment")
    } else if looking(at: "<?") {
      advance(2)
      try skip(past: "?>", of: "a processing instruction")
    } else {
      return false
    }
    return true
  }

  /// Skips a document type. Throws for one with declarations, because entities could expand without
  /// bound.
  private mutating func skipDocumentType() throws(ModelError) {
    while let byte = current, byte != UInt8(ascii: ">") {
      if byte == UInt8(ascii: "[") { throw error("a document type with declarations of its own is not read") }
      advance(1)
    }
    advance(1)
  }

  /// Reads an element, whose `<` is the next byte, with its content.
  private mutating func element(depth: Int) throws(ModelError) -> MarkupElement {
    guard depth < Self.greatestDepth else { throw error("elements are nested more than \(Self.greatestDepth) deep") }
    let start = line
    advance(1)
    var element = MarkupElement(name: try name(), line: start)
    while true {
      skipSpace()
      switch current {
      case UInt8(ascii: "/"):
        guard looking(at: "/>") else { throw error("expected /> in <\(element.name)>") }
        advance(2)
        return element
      case UInt8(ascii: ">"):
        advance(1)
        try content(of: &element, depth: depth)
        return element
      case nil: throw error("<\(element.name)> is cut off")
      default: try attribute(of: &element)
      }
    }
  }

  /// Reads an attribute. Throws if the element has the attribute already.
  private mutating func attribute(of element: inout MarkupElement) throws(ModelError) {
    let key = try name()
    skipSpace()
    guard current == UInt8(ascii: "=") else { throw error("expected = behind \(key) in <\(element.name)>") }
    advance(1)
    skipSpace()
    guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw error("the value of \(key) in <\(element.name)> is not quoted")
    }
    advance(1)
    let value = try text(until: quote)
    guard current == quote else { throw error("the value of \(key) in <\(element.name)> is cut off") }
    advance(1)
    if element[key] != nil { throw error("\(key) is given twice in <\(element.name)>") }
    guard element.attributes.count < Self.greatestAttributeCount else {
      throw error("<\(element.name)> has more than \(Self.greatestAttributeCount) attributes")
    }
    element.attributes.append((key, value))
  }

  /// Reads the content up to and including the end tag: texts, CDATA and child elements.
  private mutating func content(of element: inout MarkupElement, depth: Int) throws(ModelError) {
    while true {
      element.text += try text(until: UInt8(ascii: "<"))
      guard current != nil else { throw error("<\(element.name)> of line \(element.line) is not closed") }
      if looking(at: "</") {
        advance(2)
        let closed = try name()
        skipSpace()
        guard closed == element.name, current == UInt8(ascii: ">") else {
          throw error("<\(element.name)> of line \(element.line) is closed by </\(closed)>")
        }
        advance(1)
        return
      } else if looking(at: "<![CDATA[") {
        advance(9)
        let start = position
        try skip(past: "]]>", of: "CDATA")
        element.text += String(decoding: bytes[start..<position - 3], as: UTF8.self)
      } else if try !skipCommentOrInstruction() {
        element.children.append(try self.element(depth: depth + 1))
      }
    }
  }

  // MARK: Tokens

  /// Reads a name, which ends before white space or a delimiter.
  private mutating func name() throws(ModelError) -> String {
    let start = position
    while let byte = current, !Self.endsName(byte) { advance(1) }
    guard position > start else { throw error("expected a name") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Whether a byte ends a name.
  private static func endsName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "\""),
      UInt8(ascii: "'"), UInt8(ascii: "&"):
      true
    default: false
    }
  }

  /// Text up to a byte or the end of the file, with references replaced.
  private mutating func text(until end: UInt8) throws(ModelError) -> String {
    var start = position
    var result = ""
    while let byte = current, byte != end {
      if byte == UInt8(ascii: "&") {
        result += String(decoding: bytes[start..<position], as: UTF8.self)
        result.unicodeScalars.append(try reference())
        start = position
      } else {
        advance(1)
      }
    }
    let rest = String(decoding: bytes[start..<position], as: UTF8.self)
    return result.isEmpty ? rest : result + rest
  }

  /// Reads a reference such as `&amp;` or `&#10;`, whose `&` is the next byte.
  private mutating func reference() throws(ModelError) -> Unicode.Scalar {
    let start = position + 1
    guard let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
      throw error("& begins no reference: write &amp;")
    }
    let name = String(decoding: bytes[start..<end], as: UTF8.self)
    guard let scalar = Self.scalar(of: name) else { throw error("the entity &\(name); is not known") }
    advance(end + 1 - position)
    return scalar
  }

  /// The character of a reference's name; nil for an unknown entity.
  private static func scalar(of name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    default:
      name.hasPrefix("#x")
        ? UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
        : name.hasPrefix("#") ? UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init) : nil
    }
  }

  // MARK: Moving

  /// The next byte; nil at the end.
  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Whether a text follows at the position.
  private func looking(at text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[position...].starts(with: $0) }
  }

  /// Advances by bytes, counting lines.
  private mutating func advance(_ count: Int) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
  }

  /// Skips white space.
  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || (0x09...0x0d).contains(byte) { advance(1) }
  }

  /// Skips everything up to and including a text. `what` names the construct in the error.
  private mutating func skip(past end: StaticString, of what: String) throws(ModelError) {
    while position < bytes.count {
      if looking(at: end) { return advance(end.utf8CodeUnitCount) }
      advance(1)
    }
    throw error("\(what) is cut off")
  }

  /// The error at the current line.
  private func error(_ message: String) -> ModelError {
    ModelError(.malformedFile, message: "the XML is damaged: \(message)", at: SourceLocation(file: file, line: line))
  }
}
