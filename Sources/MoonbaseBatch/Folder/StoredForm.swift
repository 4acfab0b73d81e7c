import MoonbaseModel
import MoonbasePlatform

/// Values in the form of `export --all`: what a store holds of them, no transformer having been asked.
enum StoredForm {
  static func value(_ field: InputField, of attribute: AttributeDescription, column: String) throws -> Value {
    func refusal() -> RowFault {
      RowFault(column: column, value: field.shownText, reason: "it is not in the form of \(attribute.type.phrase)")
    }
    guard let text = field.text else { throw refusal() }
    let value: Value? =
      switch (attribute.type, field.kind) {
      case (.boolean, .bool): .bool(text == "true")
      case (.integer16, .number), (.integer32, .number), (.integer64, .number): Int64(text).map(Value.int)
      case (.double, .number), (.float, .number): Double(text).map(Value.double)
      case (.double, .text), (.float, .text):
        ["inf", "-inf", "nan"].contains(text) ? Double(text).map(Value.double) : nil
      case (.date, .number): Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      case (.string, .text): .string(text)
      case (.decimal, .text): Decimal(literal: text).map(Value.decimal)
      case (.uuid, .text): UUID(literal: text).map(Value.uuid)
      case (.uri, .text): URL(string: text).map(Value.uri)
      case (.binaryData, .text), (.transformable, .text): Data(base64Encoded: text).map(Value.data)
      case (.objectID, .text): ManagedObjectID(uriRepresentation: text).map(Value.objectID)
      default: nil
      }
    guard let value else { throw refusal() }
    return value
  }
}
