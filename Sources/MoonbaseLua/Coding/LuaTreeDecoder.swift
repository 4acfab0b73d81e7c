import MoonbasePlatform

struct LuaTreeDecoder: Decoder, SingleValueDecodingContainer {
  let tree: LuaTree
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ tree: LuaTree, path: [any CodingKey]) {
    self.tree = tree
    codingPath = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    switch tree {
    case .map(let map): return KeyedDecodingContainer(LuaKeyedDecoding(map: map, codingPath: codingPath))
    case .list(let list) where list.isEmpty:
      return KeyedDecodingContainer(LuaKeyedDecoding(map: [:], codingPath: codingPath))
    default: throw mismatch("map")
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch tree {
    case .list(let list): return LuaUnkeyedDecoding(list: list, codingPath: codingPath)
    case .map(let map) where map.isEmpty: return LuaUnkeyedDecoding(list: [], codingPath: codingPath)
    default: throw mismatch("list")
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ expected: String) -> LuaError {
    LuaTreeEncoder.refuse("\(expected) expected, got \(tree.kind)", at: codingPath)
  }

  func decodeNil() -> Bool { tree == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The leaf is unwrapped first, because nil casts to any optional type and would hide the tree's value.
    if let leaf = try leaf(type), let value = leaf as? Value { return value }
    return try Value(from: self)
  }

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

  private func text() throws -> String {
    guard case .string(let value) = tree else { throw mismatch("string") }
    guard let text = value.text else { throw LuaTreeEncoder.refuse("text is not UTF-8", at: codingPath) }
    return text
  }

  private func number() throws -> Double {
    switch tree {
    case .number(let value): return value
    case .integer(let value): return Double(value)
    default: throw mismatch("number")
    }
  }

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

extension LuaTree {
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

struct LuaKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: [LuaString: LuaTree]
  let codingPath: [any CodingKey]

  var allKeys: [Key] { map.keys.compactMap { Key(stringValue: $0.description) } }

  func contains(_ key: Key) -> Bool { map[LuaString(key.stringValue)] != nil }

  private func decoder(_ key: some CodingKey) throws -> LuaTreeDecoder {
    guard let tree = map[LuaString(key.stringValue)] else {
      throw LuaTreeEncoder.refuse("'\(key.stringValue)' is missing", at: codingPath)
    }
    return LuaTreeDecoder(tree, path: codingPath + [key])
  }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    guard let key = LuaCodingKey(stringValue: "super") else { return LuaTreeDecoder(.null, path: codingPath) }
    return try decoder(key)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

struct LuaUnkeyedDecoding: UnkeyedDecodingContainer {
  let list: [LuaTree]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  init(list: [LuaTree], codingPath: [any CodingKey]) {
    self.list = list
    self.codingPath = codingPath
  }

  var count: Int? { list.count }
  var isAtEnd: Bool { currentIndex >= list.count }

  private func decoder() throws -> LuaTreeDecoder {
    let path = codingPath + [LuaCodingKey(currentIndex + 1)]
    guard !isAtEnd else { throw LuaTreeEncoder.refuse("the list ends early", at: path) }
    return LuaTreeDecoder(list[currentIndex], path: path)
  }

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

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try decoder().container(keyedBy: type)
    currentIndex += 1
    return container
  }

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
