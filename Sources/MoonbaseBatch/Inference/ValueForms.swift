import MoonbaseModel
import MoonbasePlatform

/// The types that a text can be converted to and back without loss, or with a loss that a comment of the model states.
///
/// `ColumnProfile` intersects the forms of all values of a column; `AttributeGuess` chooses a type
/// from the rest.
struct ValueForms: OptionSet {
  /// The bits of the set.
  let rawValue: UInt32

  /// An integer of 64 bits, written without leading zeros or a plus sign.
  static let integer = Self(rawValue: 1 << 0)
  /// Without trailing zeros.
  static let decimal = Self(rawValue: 1 << 1)
  /// With the same number of digits after the point as all others.
  static let scaled = Self(rawValue: 1 << 2)
  /// In the notation of a double.
  static let double = Self(rawValue: 1 << 3)
  /// A number that a double can hold, in any notation.
  static let number = Self(rawValue: 1 << 4)
  /// The words `true` and `false`, in any case.
  static let trueFalse = Self(rawValue: 1 << 5)
  /// The words `yes` and `no`, in any case.
  static let yesNo = Self(rawValue: 1 << 6)
  /// JSON's booleans.
  static let truth = Self(rawValue: 1 << 7)
  /// A date without a time, as `2001-01-31`.
  static let day = Self(rawValue: 1 << 8)
  /// A date with a time, without and with a zone.
  static let localTime = Self(rawValue: 1 << 9)
  /// A date and a time with `Z` or an offset.
  static let zonedTime = Self(rawValue: 1 << 10)
  /// A UUID in lower case.
  static let smallUUID = Self(rawValue: 1 << 11)
  /// A UUID in upper case. A UUID of digits only has both forms.
  static let capitalUUID = Self(rawValue: 1 << 12)
  /// A URI with a scheme and `://`, which Foundation writes in the same way.
  static let uri = Self(rawValue: 1 << 13)

  /// All forms of numbers.
  static let numbers: Self = [.integer, .decimal, .scaled, .double, .number]
  /// All forms of dates.
  static let dates: Self = [.day, .localTime, .zonedTime]
  /// Both forms of UUIDs.
  static let uuids: Self = [.smallUUID, .capitalUUID]
  /// The forms of texts in JSON or a database, which have their own numbers and booleans.
  static let typedTexts: Self = [.day, .localTime, .zonedTime, .smallUUID, .capitalUUID, .uri]
  /// The forms of a column without values.
  static let all: Self = [.numbers, .typedTexts, .trueFalse, .yesNo, .truth]
}

/// Determines the forms of texts.
///
/// Each function returns an empty set for a text of another form. The functions check lengths
/// first, because most texts have no such form.
enum FormScanner {
  /// The forms of a boolean in words.
  static func truth(_ text: UnsafeRawBufferPointer) -> ValueForms {
    guard (2...5).contains(text.count) else { return [] }
    return switch String(decoding: text, as: UTF8.self).lowercased() {
    case "true", "false": .trueFalse
    case "yes", "no": .yesNo
    default: []
    }
  }

  /// The form of a date, and whether it has an offset from UTC.
  ///
  /// Dates with more than milliseconds, or with second 60, have no form, because a date would not
  /// restore them.
  static func date(_ text: UnsafeRawBufferPointer) -> (form: ValueForms, hasOffset: Bool) {
    guard (10...40).contains(text.count), text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[..<4].allSatisfy({ $0 &- 48 < 10 }), ISODate.parse(String(decoding: text, as: UTF8.self)) != nil
    else { return ([], false) }
    if text.count == 10 { return (.day, false) }
    let time = text[11...]
    // Seconds since 2001 have no leap seconds, and dates are not written with such precision.
    if time.count >= 8, time[17..<19].elementsEqual("60".utf8) { return ([], false) }
    if let point = time.firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }),
      time[(point + 1)...].prefix(while: { $0 &- 48 < 10 }).dropFirst(3).contains(where: { $0 != 48 })
    {
      return ([], false)
    }
    guard let zone = time.firstIndex(where: { [UInt8]("Zz+-".utf8).contains($0) }) else { return (.localTime, false) }
    return (.zonedTime, text[zone] | 0x20 != UInt8(ascii: "z"))
  }

  /// The forms of a UUID with hyphens.
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

  /// The form of a URI of at most 4096 bytes.
  static func uri(_ bytes: UnsafeRawBufferPointer) -> ValueForms {
    let scheme = bytes.prefix { ($0 | 0x20) &- 97 < 26 || $0 &- 48 < 10 || "+-.".utf8.contains($0) }
    guard (2...20).contains(scheme.count), bytes.count > scheme.count + 3, bytes.count <= 4096,
      bytes[scheme.count...].starts(with: "://".utf8)
    else { return [] }
    let text = String(decoding: bytes, as: UTF8.self)
    return URL(string: text)?.absoluteString == text ? .uri : []
  }
}
