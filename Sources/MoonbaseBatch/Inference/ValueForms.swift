import MoonbaseModel
import MoonbasePlatform

/// What a text may be taken for such that it comes back as it was, or as a comment of the model says.
struct ValueForms: OptionSet {
  let rawValue: UInt32

  static let integer = Self(rawValue: 1 << 0)
  /// Without zeros at the end.
  static let decimal = Self(rawValue: 1 << 1)
  /// With as many digits behind the point as all others.
  static let scaled = Self(rawValue: 1 << 2)
  /// As a double is written.
  static let double = Self(rawValue: 1 << 3)
  /// A number that a double is, however it is written.
  static let number = Self(rawValue: 1 << 4)
  static let trueFalse = Self(rawValue: 1 << 5)
  static let yesNo = Self(rawValue: 1 << 6)
  /// JSON's own truth values.
  static let truth = Self(rawValue: 1 << 7)
  static let day = Self(rawValue: 1 << 8)
  /// A date with a time, without a zone and with one.
  static let localTime = Self(rawValue: 1 << 9)
  static let zonedTime = Self(rawValue: 1 << 10)
  static let smallUUID = Self(rawValue: 1 << 11)
  static let capitalUUID = Self(rawValue: 1 << 12)
  static let uri = Self(rawValue: 1 << 13)

  static let numbers: Self = [.integer, .decimal, .scaled, .double, .number]
  static let dates: Self = [.day, .localTime, .zonedTime]
  static let uuids: Self = [.smallUUID, .capitalUUID]
  /// What a text of JSON or of a database may be, which has numbers and truth values of its own.
  static let typedTexts: Self = [.day, .localTime, .zonedTime, .smallUUID, .capitalUUID, .uri]
  static let all: Self = [.numbers, .typedTexts, .trueFalse, .yesNo, .truth]
}

/// Looks what texts are, among forms that are possible still.
enum FormScanner {
  static func truth(_ text: UnsafeRawBufferPointer) -> ValueForms {
    guard (2...5).contains(text.count) else { return [] }
    return switch String(decoding: text, as: UTF8.self).lowercased() {
    case "true", "false": .trueFalse
    case "yes", "no": .yesNo
    default: []
    }
  }

  /// Of a date, whether it says an offset from UTC.
  static func date(_ text: UnsafeRawBufferPointer) -> (form: ValueForms, hasOffset: Bool) {
    guard (10...40).contains(text.count), text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[..<4].allSatisfy({ $0 &- 48 < 10 }), ISODate.parse(String(decoding: text, as: UTF8.self)) != nil
    else { return ([], false) }
    if text.count == 10 { return (.day, false) }
    let time = text[11...]
    // A leap second is none in seconds since 2001, and so finely a date is not written.
    if time.count >= 8, time[17..<19].elementsEqual("60".utf8) { return ([], false) }
    if let point = time.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }),
      time[(point + 1)...].prefix(while: { $0 &- 48 < 10 }).dropFirst(3).contains(where: { $0 != 48 })
    {
      return ([], false)
    }
    guard let zone = time.firstIndex(where: { [UInt8]("Zz+-".utf8).contains($0) }) else { return (.localTime, false) }
    return (.zonedTime, text[zone] | 0x20 != UInt8(ascii: "z"))
  }

  static func uuid(_ text: UnsafeRawBufferPointer) -> ValueForms {
    guard text.count == 36 else { return [] }
    var forms = ValueForms.uuids
    for (place, letter) in text.enumerated() {
      switch letter {
      case UInt8(ascii: "-"): guard [8, 13, 18, 23].contains(place) else { return [] }
      case _ where [8, 13, 18, 23].contains(place): return []
      case 48...57: break
      case UInt8(ascii: "a")...UInt8(ascii: "f"): forms.remove(.capitalUUID)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): forms.remove(.smallUUID)
      default: return []
      }
    }
    return forms
  }

  static func uri(_ bytes: UnsafeRawBufferPointer) -> ValueForms {
    let scheme = bytes.prefix { ($0 | 0x20) &- 97 < 26 || $0 &- 48 < 10 || "+-.".utf8.contains($0) }
    guard (2...20).contains(scheme.count), bytes.count > scheme.count + 3, bytes.count <= 4096,
      bytes[scheme.count...].starts(with: "://".utf8)
    else { return [] }
    let text = String(decoding: bytes, as: UTF8.self)
    return URL(string: text)?.absoluteString == text ? .uri : []
  }
}
