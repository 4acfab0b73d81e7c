import MoonbaseModel
import MoonbasePlatform

extension ArchivedValue {
  /// The value of an attribute or of user info; nil for objects of unknown classes.
  var modelValue: Value? { modelValue(depth: 0) }

  /// The value, nested at most 32 levels deep.
  private func modelValue(depth: Int) -> Value? {
    guard depth < 32 else { return nil }
    switch self {
    case .scalar(let plist): return Self.value(plist)
    case .object(let object):
      if let string { return .string(string) }
      if let elements = object.elements { return .list(elements.compactMap { $0.modelValue(depth: depth + 1) }) }
      if let pairs = object.pairs {
        let values = pairs.compactMap { key, value in value.modelValue(depth: depth + 1).map { (key, $0) } }
        return .map(Dictionary(values) { first, _ in first })
      }
      return object.foundationValue
    }
  }

  /// The value of a scalar; nil for containers and references.
  private static func value(_ plist: PropertyList) -> Value? {
    switch plist {
    case .string(let string): .string(string)
    case .integer(let integer): .int(integer)
    case .real(let real): .double(real)
    case .data(let data): .data(data)
    case .date(let date): .date(date)
    case .bool(let bool): .bool(bool)
    case .array, .dictionary, .uid: nil
    }
  }
}

extension ArchivedObject {
  /// The value of an object such as `NSURL`, `NSDate`, `NSDecimalNumber` or `NSUUID`; nil for other
  /// classes.
  fileprivate var foundationValue: Value? {
    if className == "NSURL" { return string("NS.relative").flatMap { URL(string: $0) }.map(Value.uri) }
    return Value(archivedAs: className, fields)
  }
}
