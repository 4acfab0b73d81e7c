import MoonbaseModel
package import MoonbasePlatform

/// A decimal in the form of its column, which SQLite converts to a number where it can (`DECIMAL` has numeric
/// affinity).
///
/// An integer of 64 bits and a number of up to 15 digits survive the conversion. A decimal with more digits is stored
/// as text in a blob, which SQLite does not convert, and which can be read as text or as a number.
///
/// Values are read back by `ColumnDecoder.decimal`.
///
/// ```text
/// 5                    INTEGER 5
/// 0.10                 REAL 0.1
/// 1.23456789012345678  BLOB of the text
/// ```
package enum StoredDecimal {
  /// A whole number of 64 bits.
  case integer(Int64)
  /// A number of up to 15 significant digits.
  case real(Double)
  /// More digits, in a blob.
  case text(String)
  /// `NaN`, stored as text, as in Core Data.
  case notANumber

  /// A double holds 15 decimal digits exactly.
  private static let keptDigits = 15

  /// Trailing zeros do not count as digits.
  package init(_ decimal: Decimal) {
    if decimal.isNaN {
      self = .notANumber
      return
    }
    let text = Self.plain(decimal.description)
    let digits = text.utf8.filter { $0 &- 0x30 < 10 }
    let significant =
      digits.drop { $0 == 0x30 }.count - (text.contains(".") ? 0 : digits.reversed().prefix { $0 == 0x30 }.count)
    if let integer = Int64(text) {
      self = .integer(integer)
    } else if significant <= Self.keptDigits, let number = Double(text) {
      self = .real(number)
    } else {
      self = .text(text)
    }
  }

  /// The text without trailing zeros, so that equal numbers are equal in the file. Integers are unchanged: `100` stays,
  /// `1.50` becomes `1.5`.
  private static func plain(_ text: String) -> String {
    guard text.contains(".") else { return text }
    let kept = text.reversed().drop { $0 == "0" }
    return String((kept.first == "." ? kept.dropFirst() : kept).reversed())
  }
}
