import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// A value in the form that the page expects. Plain values are texts, and all other values are objects that contain
/// their kind. The size is limited.
///
/// Numbers, Booleans, dates and short texts are JSON texts. JSON objects stand for the rest: `cut`
/// and `length` for a long text, `bytes` for data, `id` for an object, and `failure` for an error.
struct InspectCell {
  /// The maximum length of a text in a list, in bytes.
  private static let greatestText = 200
  /// The maximum length of a text in the view of one object, in bytes.
  private static let greatestWholeText = 256 << 10
  /// The maximum number of elements in a tree.
  private static let greatestCount = 5000
  /// The session whose extensions convert values to texts.
  let session: InspectSession
  /// Whether the value is shown in the view of one object, and not in a list.
  var isWhole = false

  /// The value of an attribute as JSON. A number of single precision has the fewest digits that give the same number.
  ///
  /// Example: the float `0.1` is `0.1`, although its double is longer.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - type: The type of the attribute, or nil if the value does not come from an attribute.
  func json(_ value: Value, of type: AttributeType?) throws -> InspectJSON {
    try json(type == .float ? value.inFewestDigits : value)
  }

  /// The JSON of a value in the form that its kind requires.
  ///
  /// - Throws: The errors of an extension that converts a value to a text.
  func json(_ value: Value) throws -> InspectJSON {
    switch value {
    case .null: .null
    case .date(let date): .string(ISODate.exactText(date))
    case .string(let text): Self.text(text, most: isWhole ? Self.greatestWholeText : Self.greatestText)
    case .data(let data): Self.bytes(data)
    case .objectID(let id): ["id": .string(session.name(of: id))]
    case .list, .map:
      isWhole
        ? ["tree": tree(value), "json": .text(Self.exactJSON(value))]
        : Self.text(value.description, most: Self.greatestText)
    case .object(let object): ["object": .string(object.className), "text": try text(of: value, object)]
    case .bool, .int, .double, .decimal, .uuid, .uri:
      Self.text(value.description, most: Self.greatestWholeText)
    }
  }

  /// A placeholder for a value that cannot be read.
  ///
  /// - Parameter error: The error of reading the value.
  static func failure(_ error: any Error) -> InspectJSON {
    ["failure": .string(InspectFailure.message(of: error))]
  }

  /// A text, which is cut after a number of bytes.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - most: The maximum number of bytes.
  static func text(_ text: String, most: Int) -> InspectJSON {
    guard text.utf8.count > most else { return .string(text) }
    return ["cut": .string(String(decoding: text.utf8.prefix(most), as: UTF8.self)), "length": .int(text.utf8.count)]
  }

  /// Binary data with its size and its first bytes.
  static func bytes(_ data: Data) -> InspectJSON {
    bytes(count: data.count, beginning: Array(data.prefix(24)))
  }

  /// Binary data of which only the size and the first bytes are known.
  ///
  /// - Parameters:
  ///   - count: The size in bytes.
  ///   - beginning: At least the first 24 bytes, if there are so many.
  static func bytes(count: Int, beginning: [UInt8]) -> InspectJSON {
    [
      "bytes": .int(count), "image": .text(ImageForm(beginning)?.rawValue),
      "hex": .string(beginning.prefix(24).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")),
    ]
  }

  /// The text that the class of an extension has for its value.
  ///
  /// - Parameters:
  ///   - value: The value of an attribute.
  ///   - object: The object of the extension in the value.
  /// - Throws: The errors of the extension's function.
  private func text(of value: Value, _ object: OpaqueObject) throws -> InspectJSON {
    let own = session.context.extensionRegistry.valueClasses[object.className]
    if let text = own?.text { return Self.text(try text(value), most: Self.greatestText) }
    return Self.text(try session.prompt.domain.text(ofValue: value), most: Self.greatestText)
  }

  /// The text for editing a value, or nil if JSON cannot represent the value exactly.
  ///
  /// The text is parsed again and compared. Dates and decimals inside a list, for example, have no
  /// exact JSON.
  private static func exactJSON(_ value: Value) -> String? {
    var (bytes, losses) = ([UInt8](), OutputLosses())
    bytes.append(json: value, dates: .iso, column: "", losses: &losses)
    guard bytes.count <= greatestWholeText else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return JSONText.value(text) == value ? text : nil
  }

  /// A list or a map as nested JSON. Deeper or larger parts are replaced by an ellipsis.
  private func tree(_ value: Value) -> InspectJSON {
    var left = Self.greatestCount
    return Self.tree(value, levels: 32, &left)
  }

  /// The JSON of a part of a tree.
  ///
  /// - Parameters:
  ///   - value: The part to convert.
  ///   - levels: The number of levels that are still allowed.
  ///   - left: The number of elements that are still allowed.
  private static func tree(_ value: Value, levels: Int, _ left: inout Int) -> InspectJSON {
    left -= 1
    switch value {
    case .list, .map: if levels == 0 || left < 0 { return "…" }
    default: break
    }
    switch value {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .int(let number) where abs(Double(number)) < 9e15: return .int(Int(number))
    case .list(let list): return .array(list.prefix(max(0, left)).map { tree($0, levels: levels - 1, &left) })
    case .map(let map):
      let pairs = map.sorted { $0.key < $1.key }.prefix(max(0, left))
      return .object(pairs.map { ($0.key, tree($0.value, levels: levels - 1, &left)) })
    default: return text(value.description, most: greatestText)
    }
  }
}

/// The image formats that a browser shows without running code in them.
///
/// SVG is not among them, because it can contain scripts.
enum ImageForm: String {
  case png, jpeg, gif, webp

  /// Detects the format from the first bytes. Returns nil for all other data, including SVG.
  ///
  /// - Parameter bytes: The first bytes, of which 12 are needed to detect every format.
  init?(_ bytes: [UInt8]) {
    func has(_ magic: [UInt8], at place: Int = 0) -> Bool {
      bytes.dropFirst(place).prefix(magic.count).elementsEqual(magic)
    }
    if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has([0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) {
      self = .gif
    } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
      self = .webp
    } else {
      return nil
    }
  }
}
