import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// Converts fields to values of attributes.
///
/// An `Importer` makes one conversion and uses it for all rows. Most fields take the short way of
/// `cell`, which makes no value; all others go through `value`, which checks the attribute's rules
/// of form.
package struct FieldConversion {
  /// The notation of dates that are numbers.
  let dates: ImportOptions.Dates
  /// Whether the fields are csv, where every field is text.
  let hasTextsAlone: Bool
  /// Parses a text as a value of an extension's class; nil if the class cannot.
  let parse: (String, AttributeDescription) throws -> Value?

  /// The cell of a field that needs no conversion to a value; nil for other fields.
  ///
  /// The cell is written to a row directly. The function is inlined, because it runs once for each
  /// field of an import.
  @inline(__always)
  func cell(_ field: InputField, _ type: AttributeType) -> RawCell? {
    switch (type, field.kind) {
    case (_, .none): return RawCell(.null)
    case (.string, .text):
      guard field.bytes.isUTF8 else { return nil }
      return RawCell(.text, bytes: field.bytes)
    case (.integer64, .text), (.integer64, .number), (.integer32, .text), (.integer32, .number), (.integer16, .text),
      (.integer16, .number):
      guard let number = Self.integer(field.bytes) else { return nil }
      return RawCell(.int, word: UInt64(bitPattern: number))
    case (.double, .text), (.double, .number):
      return Self.double(field.bytes).map { RawCell(.double, word: $0.bitPattern) }
    case (.boolean, .bool): return RawCell(.bool, word: field.bytes.first == UInt8(ascii: "t") ? 1 : 0)
    default: return nil
    }
  }

  /// A number of digits with a decimal point. Up to 15 digits, dividing by a power of ten is exact.
  ///
  /// Returns nil for more digits or another notation, which `value` then handles.
  private static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
    guard bytes.count <= 16 else { return nil }
    var (digits, places, hasPoint) = (0.0, 0, false)
    for byte in bytes {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if byte >= 48, byte <= 57 {
        digits = digits * 10 + Double(byte - 48)
        places += hasPoint ? 1 : 0
      } else {
        return nil
      }
    }
    let count = bytes.count - (hasPoint ? 1 : 0)
    return count > 0 && count <= 15 && places < powers.count ? digits / powers[places] : nil
  }

  /// The exact powers of ten.
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  /// An integer of up to 18 digits, which cannot overflow; nil for other texts.
  private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    let isNegative = bytes.first == UInt8(ascii: "-")
    let digits = bytes.dropFirst(isNegative ? 1 : 0)
    guard (1...18).contains(digits.count) else { return nil }
    var number: Int64 = 0
    for digit in digits {
      guard digit >= 48, digit <= 57 else { return nil }
      number = number * 10 + Int64(digit - 48)
    }
    return isNegative ? -number : number
  }

  /// The value of a field for an attribute. Throws `RowFault` if it does not fit.
  ///
  /// Empty and missing fields give `null`. Texts are trimmed where the type has a notation, as
  /// numbers and dates have. Throws also the errors of an extension's class as faults of the row.
  func value(_ field: InputField, for attribute: AttributeDescription, column: String) throws -> Value {
    if field.kind == .none || field.kind == .missing { return .null }
    if attribute.type == .composite, field.kind == .nested || field.kind == .text {
      return try composite(field, of: attribute, column: column)
    }
    if field.kind == .nested { return try Self.json(field, column: column) }
    if field.kind == .binary {
      do { return try attribute.checked(.data(Data(field.bytes))) } catch {
        throw RowFault(column: column, reason: error.message)
      }
    }
    guard let text = field.text else {
      throw RowFault(
        column: column, value: field.shownText,
        reason: "it is not UTF-8: name the encoding of the file, as with --encoding windows-1252")
    }
    do {
      if let value = try listOrMap(text, field.kind, for: attribute) { return value }
      let value = try value(text, field.kind, for: attribute)
      do { return try attribute.checked(value ?? .string(text)) } catch {
        throw RowFault(column: column, value: text, reason: misfit(value, text, attribute) ?? error.message)
      }
    } catch let error as ModelError {
      throw RowFault(column: column, value: text, reason: error.message)
    } catch let error where !(error is RowFault) && ImportFailure.isOfRows(error) {
      // A class of an extension refused the text.
      var fault = ImportFailure.fault(of: error)
      (fault.column, fault.value) = (column, text)
      throw fault
    }
  }

  /// A JSON list, object or quoted text for an attribute of the default transformer, unless a class parses the text.
  private func listOrMap(
    _ text: String, _ kind: InputField.Kind, for attribute: AttributeDescription
  ) throws -> Value? {
    guard hasTextsAlone, kind == .text, attribute.type == .transformable,
      AppleNames.isDefaultTransformer(attribute.transformerName), let value = JSONText.value(text),
      try parse(text, attribute) == nil
    else { return nil }
    return value
  }

  /// The fault of a text in words for the person who corrects the row; nil if the attribute's error is clear enough.
  private func misfit(_ value: Value?, _ text: String, _ attribute: AttributeDescription) -> String? {
    switch (attribute.type, value) {
    case (.integer16, .double?), (.integer32, .double?), (.integer64, .double?), (.integer16, nil), (.integer32, nil),
      (.integer64, nil):
      "is no whole number"
    case (.double, nil), (.float, nil): "is no number"
    case (.decimal, _): Decimal.misfit(Self.trimmed(text)) ?? "is no number"
    case (.boolean, nil): "is neither true nor false"
    case (.date, _): dates == .iso ? "is no date such as 2001-01-31T12:30:00Z" : "is no number of seconds"
    case (.uuid, _): "is no UUID"
    case (.uri, nil): "is no URI"
    case (.binaryData, nil): "is no Base64"
    default: nil
    }
  }

  /// The value of a JSON list or object. Throws `RowFault` with the mistake.
  private static func json(_ field: InputField, column: String) throws -> Value {
    do { return try Value(json: field.bytes) } catch JSONScanner.Problem.wrong(let what, _) {
      throw RowFault(column: column, value: field.shownText, reason: what)
    }
  }

  /// A JSON object, as text in csv, whose members are converted as fields of the elements.
  private func composite(_ field: InputField, of attribute: AttributeDescription, column: String) throws -> Value {
    if field.bytes.isEmpty { return .null }
    let json = try Self.json(field, column: column)
    do { return try attribute.checked(try element(json, of: attribute)) } catch let error as ModelError {
      throw RowFault(column: column, value: field.shownText, reason: error.message)
    }
  }

  /// The value of an element, in which texts and numbers are converted to the element's type.
  private func element(_ json: Value, of attribute: AttributeDescription) throws -> Value {
    switch json {
    case .map(let map) where attribute.type == .composite:
      var result: [String: Value] = [:]
      for (name, value) in map {
        // The attribute reports the unknown element.
        result[name] = try attribute.elements.first { $0.name == name }.map { try element(value, of: $0) } ?? value
      }
      return .map(result)
    case .string(let text): return try value(text, .text, for: attribute) ?? json
    case .int, .double: return try json.text.flatMap { try value($0, .number, for: attribute) } ?? json
    default: return json
    }
  }

  /// The value in the attribute's type; nil if the text does not fit.
  ///
  /// For dates, decimals and UUIDs the text itself is returned, and `checked` of the attribute
  /// parses it.
  private func value(_ text: String, _ kind: InputField.Kind, for attribute: AttributeDescription) throws -> Value? {
    let trimmed = Self.trimmed(text)
    switch attribute.type {
    case .string: return .string(text)
    case .integer16, .integer32, .integer64:
      return try Int64(trimmed).map(Value.int) ?? Self.number(trimmed).map(Value.double)
    case .double, .float: return try Self.number(trimmed).map(Value.double)
    case .decimal: return .string(trimmed)
    case .boolean: return Self.truths[trimmed.lowercased()].map(Value.bool)
    case .date:
      guard dates != .iso, let seconds = try Self.number(trimmed) else { return .string(trimmed) }
      return .date(
        dates == .unix ? Date(timeIntervalSince1970: seconds) : Date(timeIntervalSinceReferenceDate: seconds))
    case .binaryData: return Data(base64Encoded: trimmed).map(Value.data)
    case .uuid: return .string(trimmed)
    case .uri: return URL(literal: trimmed).map(Value.uri)
    case .transformable:
      // A database may contain infinite numbers, which JSON does not have.
      if kind == .number, ["inf", "-inf"].contains(text) { return Double(text).map(Value.double) }
      if kind == .number || kind == .bool {
        return try? text.utf8.withContiguousStorageIfAvailable {
          try Value(json: UnsafeRawBufferPointer($0))
        }
      }
      if let value = try parse(text, attribute) { return value }
      return .string(text)
    default: return .string(text)
    }
  }

  /// The text without surrounding spaces. The check avoids an expensive search in the common case.
  private static func trimmed(_ text: String) -> String {
    func isMark(_ byte: UInt8?) -> Bool { byte.map { $0 > 0x20 && $0 < 0x80 } ?? true }
    if isMark(text.utf8.first), isMark(text.utf8.last) { return text }
    return text.trimmingCharacters(in: .whitespaces)
  }

  /// The accepted spellings of booleans, in lower case.
  private static let truths = [
    "true": true, "false": false, "yes": true, "no": false, "t": true, "f": false, "1": true, "0": false,
  ]

  /// A decimal number in the usual notations. Nil for other texts, including hexadecimal; throws if a double cannot
  /// hold the number.
  ///
  /// Throws `.invalidValue` for a number beyond the range of a double, and for a nonzero number
  /// that would become 0.
  package static func number(_ text: String) throws(ModelError) -> Double? {
    let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
    guard isPlain || ["inf", "-inf", "infinity", "-infinity", "nan"].contains(text.lowercased()) else { return nil }
    guard let number = Double(text) else { return nil }
    guard !isPlain || number.isFinite else {
      throw ModelError(.invalidValue, message: "\(text) is too large for a double")
    }
    let isZero = !text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { (49...57).contains($0) }
    guard number != 0 || isZero else {
      throw ModelError(.invalidValue, message: "\(text) is too small for a double, which would be 0")
    }
    return number
  }
}
