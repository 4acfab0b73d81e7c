import MoonbasePlatform

/// Reads a `LuaTree` as any `Decodable` type. Each value has a decoder of its own. An empty list also decodes as an
/// empty map and vice versa, because Lua does not distinguish them.
struct LuaTreeDecoder: Decoder, SingleValueDecodingContainer {
  /// The value to decode.
  let tree: LuaTree
  /// The keys from the root to the value, for messages.
  let codingPath: [any CodingKey]
  /// Always empty.
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Nothing is decoded yet.
  init(_ tree: LuaTree, path: [any CodingKey]) {
    self.tree = tree
    codingPath = path
  }

  /// Throws for a value that is no map.
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    switch tree {
    case .map(let map): return KeyedDecodingContainer(LuaKeyedDecoding(map: map, codingPath: codingPath))
    case .list(let list) where list.isEmpty:
      return KeyedDecodingContainer(LuaKeyedDecoding(map: [:], codingPath: codingPath))
    default: throw mismatch("map")
    }
  }

  /// Throws for a value that is no list.
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch tree {
    case .list(let list): return LuaUnkeyedDecoding(list: list, codingPath: codingPath)
    case .map(let map) where map.isEmpty: return LuaUnkeyedDecoding(list: [], codingPath: codingPath)
    default: throw mismatch("list")
    }
  }

  /// The decoder itself.
  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// The error for a value of another kind.
  private func mismatch(_ expected: String) -> LuaError {
    LuaTreeEncoder.refuse("\(expected) expected, got \(tree.kind)", at: codingPath)
  }

  /// Whether the value is null.
  func decodeNil() -> Bool { tree == .null }

  /// Types with a form of their own in Lua are read directly, all others by their `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The leaf is unwrapped first, because nil casts to any optional type and would hide the tree's value.
    if let leaf = try leaf(type), let value = leaf as? Value { return value }
    return try Value(from: self)
  }

  /// Nil for types without a form of their own.
  private func leaf(_ type: any Decodable.Type) throws -> Any? {
    switch type {
    case is Bool.Type:
      guard case .boolean(let value) = tree else { throw mismatch("boolean") }
      return value
    case is String.Type: return try text()
    case is Double.Type: return try number()
    case is Float.Type: return Float(try number())
    case let type as any FixedWidthInteger.Type: return try integer(type)
    case is Data.Type:
      guard case .string(let value) = tree else { throw mismatch("string") }
      return Data(value.bytes)
    case is Decimal.Type: return try decimal()
    case is URL.Type:
      guard let url = URL(string: try text()) else { throw mismatch("URI") }
      return url
    default: return nil
    }
  }

  /// Throws for bytes that are not UTF-8.
  private func text() throws -> String {
    guard case .string(let value) = tree else { throw mismatch("string") }
    guard let text = value.text else { throw LuaTreeEncoder.refuse("text is not UTF-8", at: codingPath) }
    return text
  }

  /// Integers are accepted.
  private func number() throws -> Double {
    switch tree {
    case .number(let value): return value
    case .integer(let value): return Double(value)
    default: throw mismatch("number")
    }
  }

  /// Numbers without a fraction are accepted. Throws for a value outside of the type's range.
  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    let value: Integer?
    switch tree {
    case .integer(let integer): value = Integer(exactly: integer)
    case .number(let number): value = Integer(exactly: number)
    default: throw mismatch("integer")
    }
    guard let value else { throw LuaTreeEncoder.refuse("the number does not fit into \(type)", at: codingPath) }
    return value
  }

  /// From an integer, or from a text such as `"0.1"`. Floating-point numbers are refused, because they are not exact.
  private func decimal() throws -> Decimal {
    switch tree {
    case .integer(let value): return Decimal(value)
    case .string(let text):
      if let value = Decimal(literal: text.description) { return value }
      if let misfit = Decimal.misfit(text.description) {
        throw LuaTreeEncoder.refuse("'\(text)' \(misfit)", at: codingPath)
      }
    default: break
    }
    throw mismatch("decimal")
  }
}

/// For messages.
extension LuaTree {
  /// The name of the value's type in Lua's terms.
  var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "boolean"
    case .integer, .number: "number"
    case .string: "string"
    case .list: "list"
    case .map: "map"
    }
  }
}

/// The entries of a map as a container.
struct LuaKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: [LuaString: LuaTree]
  let codingPath: [any CodingKey]

  /// In no particular order.
  var allKeys: [Key] { map.keys.compactMap { Key(stringValue: $0.description) } }

  /// Null values count as present.
  func contains(_ key: Key) -> Bool { map[LuaString(key.stringValue)] != nil }

  /// Throws for a missing key.
  private func decoder(_ key: some CodingKey) throws -> LuaTreeDecoder {
    guard let tree = map[LuaString(key.stringValue)] else {
      throw LuaTreeEncoder.refuse("'\(key.stringValue)' is missing", at: codingPath)
    }
    return LuaTreeDecoder(tree, path: codingPath + [key])
  }

  /// Throws for a missing key; a null value gives true.
  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  /// Throws for a value that is no map.
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  /// Throws for a value that is no list.
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  /// By the key `super`, as in Foundation.
  func superDecoder() throws -> any Decoder {
    guard let key = LuaCodingKey(stringValue: "super") else { return LuaTreeDecoder(.null, path: codingPath) }
    return try decoder(key)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// The elements of a list as a container. A failed decoding does not advance.
struct LuaUnkeyedDecoding: UnkeyedDecodingContainer {
  let list: [LuaTree]
  let codingPath: [any CodingKey]
  /// From 0.
  var currentIndex = 0

  init(list: [LuaTree], codingPath: [any CodingKey]) {
    self.list = list
    self.codingPath = codingPath
  }

  /// Never nil.
  var count: Int? { list.count }
  var isAtEnd: Bool { currentIndex >= list.count }

  /// The decoder of the next element. Throws at the end.
  private func decoder() throws -> LuaTreeDecoder {
    let path = codingPath + [LuaCodingKey(currentIndex + 1)]
    guard !isAtEnd else { throw LuaTreeEncoder.refuse("the list ends early", at: path) }
    return LuaTreeDecoder(list[currentIndex], path: path)
  }

  /// Advances only past a null value.
  mutating func decodeNil() throws -> Bool {
    guard try decoder().decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try decoder().decode(type)
    currentIndex += 1
    return value
  }

  /// Throws for an element that is no map.
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try decoder().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  /// Throws for an element that is no list.
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try decoder().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try decoder()
    currentIndex += 1
    return decoder
  }
}
