import MoonbaseModel
import MoonbasePlatform

/// Values in the form of `export --all`: as stored, without transformers.
///
/// A date is a number of seconds since 2001, a decimal and a UUID are texts, bytes are Base64, and
/// a double may be `inf`, `-inf` or `nan`. `moonbase export` writes these forms.
enum StoredForm {
  /// The value of a field for an attribute. Throws `RowFault` with the column if the field has
  /// another form.
  static func value(_ field: InputField, of attribute: AttributeDescription, column: String) throws -> Value {
    func refusal() -> RowFault {
      RowFault(column: column, value: field.shownText, reason: "it is not in the form of \(attribute.type.phrase)")
    }
    if attribute.type == .composite {
      guard field.kind == .nested, let json = try? Value(json: field.bytes), let value = element(json, of: attribute)
      else { throw refusal() }
      return value
    }
    guard let text = field.text else { throw refusal() }
    let value: Value? =
      switch (attribute.type, field.kind) {
      case (.boolean, .bool): .bool(text == "true")
      case (.integer16, .number), (.integer32, .number), (.integer64, .number): Int64(text).map(Value.int)
      case (.double, .number), (.float, .number): Double(text).flatMap { $0.isFinite ? $0 : nil }.map(Value.double)
      case (.double, .text), (.float, .text):
        ["inf", "-inf", "nan"].contains(text) ? Double(text).map(Value.double) : nil
      case (.date, .number): Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      case (.string, .text): .string(text)
      case (.decimal, .text): Decimal(stored: text).map(Value.decimal)
      case (.uuid, .text): UUID(literal: text).map(Value.uuid)
      case (.uri, .text): URL(string: text).map(Value.uri)
      case (.binaryData, .text), (.transformable, .text): Data(base64Encoded: text).map(Value.data)
      case (.objectID, .text): ManagedObjectID(uriRepresentation: text).map(Value.objectID)
      default: nil
      }
    guard let value else { throw refusal() }
    return value
  }

  /// The value of a composite's element; nil for JSON of another form.
  ///
  /// Elements have the forms of attributes, and composites may be nested.
  private static func element(_ json: Value, of attribute: AttributeDescription) -> Value? {
    switch (attribute.type, json) {
    case (.composite, .map(let map)):
      var result: [String: Value] = [:]
      for (name, value) in map {
        guard let element = attribute.elements.first(where: { $0.name == name }),
          let value = self.element(value, of: element)
        else { return nil }
        result[name] = value
      }
      return .map(result)
    case (.boolean, .bool), (.integer16, .int), (.integer32, .int), (.integer64, .int), (.double, .double),
      (.float, .double), (.string, .string):
      return json
    case (.double, .int(let number)), (.float, .int(let number)): return .double(Double(number))
    case (.double, .string(let text)), (.float, .string(let text)):
      return ["inf", "-inf"].contains(text) ? Double(text).map(Value.double) : nil
    case (.date, .double(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.date, .int(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case (.decimal, .string(let text)): return Decimal(stored: text).map(Value.decimal)
    case (.uuid, .string(let text)): return UUID(literal: text).map(Value.uuid)
    case (.uri, .string(let text)): return URL(string: text).map(Value.uri)
    case (.binaryData, .string(let text)): return Data(base64Encoded: text).map(Value.data)
    default: return nil
    }
  }
}
