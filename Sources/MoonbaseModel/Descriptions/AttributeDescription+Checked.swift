import MoonbasePlatform

extension AttributeDescription {
  /// The value converted to the attribute's type, as on assignment.
  ///
  /// An attribute accepts its exact type, an integral floating-point number for integers, an integer for any number
  /// type, ISO 8601 text for dates, and text for decimals, UUIDs and URIs. All other values throw `.invalidValue`:
  /// 70,000 does not wrap in an Integer 16. NaN is refused for doubles, because SQLite would silently store NULL.
  /// Infinity is accepted, except for dates.
  @inline(__always)
  package func checked(_ value: Value) throws(ModelError) -> Value {
    switch (type, value) {
    case (_, .null), (.string, .string), (.integer64, .int), (.boolean, .bool), (.binaryData, .data):
      return value
    case (.transformable, _), (.undefined, _): return try value.checkedNesting()
    case (.double, .double(let number)) where !number.isNaN: return value
    // An infinite date has no text form, and Foundation traps when it formats such a date.
    case (.date, .date(let date)) where date.timeIntervalSinceReferenceDate.isFinite: return value
    case (.integer32, .int(let number)) where Int32(exactly: number) != nil: return value
    case (.integer16, .int(let number)) where Int16(exactly: number) != nil: return value
    default: return try coerced(value)
    }
  }

  /// The conversions that need more than a comparison of types. Throws `.invalidValue`.
  private func coerced(_ value: Value) throws(ModelError) -> Value {
    switch (type, value) {
    case (.integer16, _): return .int(try integer(value, in: Int64(Int16.min)...Int64(Int16.max)))
    case (.integer32, _): return .int(try integer(value, in: Int64(Int32.min)...Int64(Int32.max)))
    case (.integer64, _): return .int(try integer(value, in: Int64.min...Int64.max))
    case (.double, .int(let number)): return .double(try double(number))
    case (.float, .int(let number)): return .double(Double(Float(number)))
    case (.float, .double(let number)) where !number.isNaN: return .double(try single(number))
    // `NSDecimalNumber.notANumber` is accepted, because the column stores it as text.
    case (.decimal, .decimal): return value
    case (.decimal, .int(let number)): return .decimal(Decimal(number))
    case (.decimal, .string(let text)):
      if let number = Decimal(stored: text) { return .decimal(number) }
    case (.date, .string(let text)):
      if let date = ISODate.parse(text) { return .date(date) }
    case (.uuid, .uuid), (.uri, .uri), (.objectID, .objectID): return value
    case (.uuid, .string(let text)):
      if let uuid = UUID(literal: text) { return .uuid(uuid) }
    case (.uri, .string(let text)):
      if let uri = URL(literal: text) { return .uri(uri) }
    case (.composite, .map(let map)): return try composite(map)
    // An empty table of a script may arrive as a list.
    case (.composite, .list(let list)) where list.isEmpty: return .null
    default: break
    }
    throw refusal(of: value)
  }

  /// The integer of a value. Throws `.invalidValue` for fractions and for numbers outside of the
  /// range.
  private func integer(_ value: Value, in range: ClosedRange<Int64>) throws(ModelError) -> Int64 {
    let exact: Int64? =
      switch value {
      case .int(let number): number
      case .double(let number): Int64(exactly: number)
      default: nil
      }
    guard let exact else { throw refusal(of: value) }
    guard range.contains(exact) else {
      throw ModelError(
        .invalidValue, message: "\(exact) does not fit \(type.phrase): \(range.lowerBound) to \(range.upperBound)")
    }
    return exact
  }

  /// Beyond 2^53 most integers have no exact double. A rounded number would not be found by a search for the original.
  private func double(_ number: Int64) throws(ModelError) -> Double {
    let double = Double(number)
    guard Int64(exactly: double) == number else {
      throw ModelError(
        .invalidValue,
        message:
          "\(number) is no double, the nearest is \(Int64(exactly: double).map(String.init) ?? "\(double)"): give that, "
          + "or make the attribute an Integer 64 or a decimal")
    }
    return double
  }

  /// A double rounded to single precision. Throws `.invalidValue` if the result would be infinite
  /// or zero.
  private func single(_ number: Double) throws(ModelError) -> Double {
    let rounded = Float(number)
    guard rounded.isFinite || !number.isFinite else {
      throw ModelError(.invalidValue, message: "\(number) is too large for \(type.phrase)")
    }
    guard rounded != 0 || number == 0 else {
      throw ModelError(.invalidValue, message: "\(number) is too small for \(type.phrase), which would be 0")
    }
    return Double(rounded)
  }

  /// The elements of a composite that have a value; null if there are none, because a store cannot distinguish an empty
  /// composite from null.
  ///
  /// Throws `.invalidValue` for an unknown element, and for a value that does not fit its element.
  private func composite(_ map: [String: Value]) throws(ModelError) -> Value {
    var result: [String: Value] = [:]
    for (key, value) in map {
      guard let element = elements.first(where: { $0.name == key }) else {
        let hint = suggestion(for: key, among: elements.map(\.name))
        throw ModelError(.invalidValue, message: "the composite has no element \(key)\(hint)")
      }
      do {
        let value = try element.checked(value)
        if !value.isNull { result[key] = value }
      } catch {
        throw ModelError(error.code, message: "\(key): \(error.message)")
      }
    }
    return result.isEmpty ? .null : .map(result)
  }

  /// The error about a value of another type, with advice.
  private func refusal(of value: Value) -> ModelError {
    let advice =
      switch (type, value) {
      case (.date, .string): "; text must be an ISO 8601 date such as 2001-01-01T00:00:00Z"
      case (.date, .int), (.date, .double): "; make a date of the number, in Lua by moonbase.date.unix(SECONDS)"
      case (.uuid, .string): "; the text is no UUID"
      case (.decimal, .string(let text)): "; the text \(Decimal.misfit(text) ?? "is no number")"
      case (.decimal, .double): "; give a decimal or text, which keep every digit"
      case (.integer16, .string), (.integer32, .string), (.integer64, .string), (.double, .string), (.float, .string):
        "; make a number of the text"
      case (.integer16, .double), (.integer32, .double), (.integer64, .double): "; only integral numbers fit"
      case (.boolean, _): "; give true or false"
      case (.double, .double), (.float, .double), (.date, .date):
        ", for no store can tell not-a-number from no value: assign nil for none"
      case (.uri, .string): "; the text is no URI"
      default: ""
      }
    let quote = if case .string = value { "'" } else { "" }
    let shown = value.beginning.map { " \(quote)\($0)\(quote)" } ?? ""
    return ModelError(.invalidValue, message: "takes \(type.phrase), not \(value.typeDescription)\(shown)\(advice)")
  }
}

extension AttributeType {
  /// The type with its article, for messages.
  package var phrase: String {
    switch self {
    case .undefined: "any value"
    case .integer16: "an Integer 16"
    case .integer32: "an Integer 32"
    case .integer64: "an Integer 64"
    case .decimal: "a decimal"
    case .double: "a double"
    case .float: "a float"
    case .string: "a string"
    case .boolean: "a boolean"
    case .date: "a date"
    case .binaryData: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .transformable: "a transformable value"
    case .objectID: "an object ID"
    case .composite: "a composite"
    }
  }
}
