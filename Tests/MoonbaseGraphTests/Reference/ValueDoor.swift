import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The class of the reference model's objects, with typed keys and a custom accessor for `note`.
final class ReferenceNode: ManagedObject {
  static let name = Attribute<ReferenceNode, String?>("name")
  static let number = Attribute<ReferenceNode, Int64>("number")
  static let data = Attribute<ReferenceNode, Value>("data")
  static let code = Attribute<ReferenceNode, String?>("code")
  static let mood = Attribute<ReferenceNode, String?>("mood")
  static let note = Attribute<ReferenceNode, String?>("note")
  static let spouse = ToOne<ReferenceNode, ReferenceNode>("spouse")
  static let friends = ToMany<ReferenceNode, ReferenceNode>("friends")

  override class var customAccessors: [CustomAccessor] {
    [CustomAccessor("note", of: ReferenceNode.self, get: { $0[note].attributeValue }, set: { $0[note] = try text($1) })]
  }

  static func text(_ value: Value) throws -> String? {
    switch value {
    case .null: return nil
    case .string(let text): return text
    default: throw ReferenceMistake("\(value) is no text")
    }
  }

  /// Sets an attribute by its typed key. Clearing a number is not possible with a typed key.
  func setTyped(_ value: Value, _ key: String) throws {
    switch key {
    case "name": self[Self.name] = try Self.text(value)
    case "mood": self[Self.mood] = try Self.text(value)
    case "note": self[Self.note] = try Self.text(value)
    case "code": self[Self.code] = try Self.text(value)
    case "number": if case .int(let number) = value { self[Self.number] = number } else { self["number"] = value }
    default: self[Self.data] = value
    }
  }
}

/// A way to set the value of an attribute.
enum ValueDoor: CaseIterable, Sendable {
  case key, subscripted, typedKey, keyPath, values, primitive

  /// The attributes of the reference model on which the accessors are tried.
  static let keys = ["name", "number", "data", "mood", "note"]

  func set(_ value: Value, _ key: String, of object: ManagedObject) throws {
    switch self {
    case .key: try object.setValue(value, forKey: key)
    case .subscripted: object[key] = value
    case .typedKey: try (object as? ReferenceNode)?.setTyped(value, key)
    case .keyPath: try object.setValue(value, forKeyPath: key)
    case .values: try object.setValuesForKeys([key: value])
    case .primitive:
      try object.willChangeValue(forKey: key)
      try object.setPrimitiveValue(value, forKey: key)
      try object.didChangeValue(forKey: key)
    }
  }

  /// The value as read by one of several accessors.
  static func value(_ key: String, of object: ManagedObject, way: Int) throws -> Value {
    switch way % 5 {
    case 0: return try object.value(forKey: key)
    case 1: return object[key]
    case 2: return try object.value(forKeyPath: key)
    case 3: return try object.primitiveValue(forKey: key)
    default: return try (object as? ReferenceNode)?.typedValue(key) ?? object.value(forKey: key)
    }
  }
}

extension ReferenceNode {
  /// The value read by its typed key; a missing number reads as 0.
  func typedValue(_ key: String) throws -> Value {
    switch key {
    case "name": self[Self.name].attributeValue
    case "mood": self[Self.mood].attributeValue
    case "code": self[Self.code].attributeValue
    case "note": self[Self.note].attributeValue
    case "number": self["number"].isNull ? .null : .int(self[Self.number])
    default: self[Self.data]
    }
  }
}
