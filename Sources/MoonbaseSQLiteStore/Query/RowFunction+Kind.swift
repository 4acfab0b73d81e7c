import MoonbaseModel
import MoonbaseSQLite

/// The kinds of values that a fast function can take and return.
extension RowFunction.Kind {
  /// Returns nil for a type whose stored form is not the value itself. For example, a date is a number in the column
  /// but not for a script.
  init?(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .binaryData: self = .bytes
    case .integer16: self = .integer(Int64(Int16.min)...Int64(Int16.max))
    case .integer32: self = .integer(Int64(Int32.min)...Int64(Int32.max))
    case .integer64: self = .integer(.min ... .max)
    case .double: self = .number
    case .boolean: self = .boolean
    default: return nil
    }
  }
}
