package import MoonbasePlatform

/// A property list as a value, including the object references (UIDs) of keyed archives, which Foundation on Linux does
/// not read.
///
/// ```swift
/// let list: PropertyList = ["name": "Person", "count": 3]
/// let same = try PropertyList(binary: list.binaryData)
/// ```
package indirect enum PropertyList: Sendable, Hashable {
  /// Values by name.
  case dictionary([String: PropertyList])
  /// Values in order; a set is read as an array too.
  case array([PropertyList])
  /// A string.
  case string(String)
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// A truth value.
  case bool(Bool)
  /// A reference to an object of a keyed archive.
  case uid(UInt32)
}

extension PropertyList {
  /// The dictionary, if this is one.
  package var dictionary: [String: PropertyList]? {
    if case .dictionary(let dictionary) = self { dictionary } else { nil }
  }

  /// The elements, if this is an array.
  package var array: [PropertyList]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The string, if this is one.
  package var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The integer; a truth value counts as 0 or 1, as in an archive it may stand for a number.
  package var integer: Int64? {
    switch self {
    case .integer(let integer): integer
    case .bool(let bool): bool ? 1 : 0
    default: nil
    }
  }

  /// The number as a double, if this is an integer or a real.
  package var real: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }

  /// The truth value; an integer counts as true unless it is 0.
  package var bool: Bool? { integer.map { $0 != 0 } }

  /// The bytes, if this is data.
  package var data: Data? {
    if case .data(let data) = self { data } else { nil }
  }

  /// The date, if this is one.
  package var date: Date? {
    if case .date(let date) = self { date } else { nil }
  }

  /// The value of a key, if this is a dictionary that has it.
  package subscript(key: String) -> PropertyList? { dictionary?[key] }
}

extension PropertyList: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  package init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  package init(integerLiteral value: Int64) { self = .integer(value) }
  /// A truth value.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  package init(arrayLiteral elements: PropertyList...) { self = .array(elements) }
  /// A dictionary; of two equal keys the later one counts.
  package init(dictionaryLiteral elements: (String, PropertyList)...) {
    self = .dictionary(Dictionary(elements) { _, later in later })
  }
}
