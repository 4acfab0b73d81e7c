import MoonbasePlatform

/// A slot into which an encoder writes its value.
///
/// Needed because a type may ask for containers in any order, and for nested ones before it finishes.
final class LuaTreeSlot {
  /// The form of the value so far.
  enum Content {
    /// Nothing was encoded, which gives an empty map.
    case none
    /// A scalar, or a value that was encoded at once.
    case leaf(LuaTree)
    /// Elements in order.
    case list([LuaTreeSlot])
    /// Entries in order; the last one counts for a repeated key.
    case map([(LuaString, LuaTreeSlot)])
  }

  /// Set by containers.
  var content = Content.none

  /// The finished value, with everything nested.
  var tree: LuaTree {
    switch content {
    case .none: .map([:])
    case .leaf(let tree): tree
    case .list(let slots): .list(slots.map(\.tree))
    case .map(let entries): .map(Dictionary(entries.map { ($0.0, $0.1.tree) }, uniquingKeysWith: { $1 }))
    }
  }
}

/// Writes any `Encodable` type as a `LuaTree`. Depth counts down with each nested value.
struct LuaTreeEncoder: Encoder {
  /// Receives the value.
  let slot: LuaTreeSlot
  /// The keys from the root to the value, for messages.
  let codingPath: [any CodingKey]
  /// The levels that may still follow.
  let depth: Int
  /// Always empty.
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// `Data`, `Decimal` and `URL` have forms of their own. Throws for values that nest too deeply.
  static func tree(of value: some Encodable, path: [any CodingKey], depth: Int) throws -> LuaTree {
    guard depth > 0 else { throw refuse("values nest too deeply", at: path) }
    switch value {
    case let data as Data: return .string(LuaString(bytes: data))
    case let decimal as Decimal: return .text(decimal.description)
    case let url as URL: return .text(url.absoluteString)
    default: break
    }
    let encoder = LuaTreeEncoder(slot: LuaTreeSlot(), codingPath: path, depth: depth)
    try value.encode(to: encoder)
    return encoder.slot.tree
  }

  /// The `.conversion` error with a path of coding keys.
  static func refuse(_ problem: String, at path: [any CodingKey]) -> LuaError {
    refuse(problem, at: path.map(\.stringValue))
  }

  /// The error of a path. Only both ends of a long path are shown.
  static func refuse(_ problem: String, at path: [String]) -> LuaError {
    guard !path.isEmpty else { return LuaError(.conversion, message: problem) }
    let shown = path.map { $0.count > 40 ? "\($0.prefix(40))…" : $0 }
    let place =
      shown.count > 8
      ? "\(shown.prefix(4).joined(separator: ".")) … \(shown.suffix(3).joined(separator: "."))"
      : shown.joined(separator: ".")
    return LuaError(.conversion, message: "\(place): \(problem)")
  }

  /// A slot has one kind of container; a second request continues the first.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .map = slot.content {} else { slot.content = .map([]) }
    return KeyedEncodingContainer(LuaKeyedEncoding(slot: slot, codingPath: codingPath, depth: depth))
  }

  /// For lists.
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .list = slot.content {} else { slot.content = .list([]) }
    return LuaUnkeyedEncoding(slot: slot, codingPath: codingPath, depth: depth)
  }

  /// For scalars.
  func singleValueContainer() -> any SingleValueEncodingContainer {
    LuaSingleEncoding(slot: slot, codingPath: codingPath, depth: depth)
  }
}

/// The conversion of primitive types, shared by the three kinds of containers. Implemented by all containers.
protocol LuaLeafEncoding {
  /// The levels that may still follow.
  var depth: Int { get }
}

/// Scalars are converted here, everything else by its own `encode(to:)`.
extension LuaLeafEncoding {
  /// Throws for an integer that needs more than 64 bits.
  func leaf(_ value: some Encodable, at path: [any CodingKey]) throws -> LuaTree {
    switch value {
    case let value as Bool: return .boolean(value)
    case let value as String: return .text(value)
    case let value as Double: return .number(value)
    case let value as Float: return .number(Double(value))
    case let value as any BinaryInteger:
      guard let integer = Int64(exactly: value) else {
        throw LuaTreeEncoder.refuse("\(value) does not fit into a Lua integer", at: path)
      }
      return .integer(integer)
    default: return try LuaTreeEncoder.tree(of: value, path: path, depth: depth - 1)
    }
  }
}

/// The entries of a map in the making.
struct LuaKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol, LuaLeafEncoding {
  let slot: LuaTreeSlot
  let codingPath: [any CodingKey]
  let depth: Int

  /// Adds an entry. The content is taken out meanwhile, so that the array is not copied.
  private func add(_ key: some CodingKey) -> LuaTreeSlot {
    let inner = LuaTreeSlot()
    if case .map(var entries) = slot.content {
      slot.content = .none
      entries.append((LuaString(key.stringValue), inner))
      slot.content = .map(entries)
    }
    return inner
  }

  mutating func encodeNil(forKey key: Key) { add(key).content = .leaf(.null) }

  mutating func encode(_ value: some Encodable, forKey key: Key) throws {
    add(key).content = .leaf(try leaf(value, at: codingPath + [key]))
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    LuaTreeEncoder(slot: add(key), codingPath: codingPath + [key], depth: depth - 1).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    LuaTreeEncoder(slot: add(key), codingPath: codingPath + [key], depth: depth - 1).unkeyedContainer()
  }

  /// By the key `super`, as in Foundation.
  mutating func superEncoder() -> any Encoder { superEncoder(for: LuaCodingKey(stringValue: "super")) }

  mutating func superEncoder(forKey key: Key) -> any Encoder { superEncoder(for: key) }

  private func superEncoder(for key: (some CodingKey)?) -> any Encoder {
    guard let key else { return LuaTreeEncoder(slot: LuaTreeSlot(), codingPath: codingPath, depth: depth) }
    return LuaTreeEncoder(slot: add(key), codingPath: codingPath + [key], depth: depth - 1)
  }
}

/// The elements of a list in the making.
struct LuaUnkeyedEncoding: UnkeyedEncodingContainer, LuaLeafEncoding {
  let slot: LuaTreeSlot
  let codingPath: [any CodingKey]
  let depth: Int

  /// The elements so far.
  var count: Int { if case .list(let slots) = slot.content { slots.count } else { 0 } }

  private func add() -> LuaTreeSlot {
    let inner = LuaTreeSlot()
    if case .list(var slots) = slot.content {
      slot.content = .none
      slots.append(inner)
      slot.content = .list(slots)
    }
    return inner
  }

  /// The path of the next element.
  private var path: [any CodingKey] { codingPath + [LuaCodingKey(count + 1)] }

  mutating func encodeNil() { add().content = .leaf(.null) }

  /// Adds a value; nothing is added if it throws.
  mutating func encode(_ value: some Encodable) throws {
    let tree = try leaf(value, at: path)
    add().content = .leaf(tree)
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    let path = path
    return LuaTreeEncoder(slot: add(), codingPath: path, depth: depth - 1).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let path = path
    return LuaTreeEncoder(slot: add(), codingPath: path, depth: depth - 1).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder {
    let path = path
    return LuaTreeEncoder(slot: add(), codingPath: path, depth: depth - 1)
  }
}

/// A single value in the making.
struct LuaSingleEncoding: SingleValueEncodingContainer, LuaLeafEncoding {
  let slot: LuaTreeSlot
  let codingPath: [any CodingKey]
  let depth: Int

  mutating func encodeNil() { slot.content = .leaf(.null) }

  mutating func encode(_ value: some Encodable) throws { slot.content = .leaf(try leaf(value, at: codingPath)) }
}
