/// Values with the Swift protocols `Encodable` and `Decodable`, by way of `LuaTree`.
extension LuaState {
  /// Creates the Lua value of anything `Encodable`.
  ///
  /// ```swift
  /// struct Size: Codable { var width = 2.0, height = 3.0 }
  /// let value = try state.encode(Size())
  /// let size = try state.decode(Size.self, from: value)
  /// ```
  ///
  /// nil becomes `moonbase.null`, 64-bit integers stay exact, `Data` becomes a byte string; `Decimal`, `UUID` and `URL`
  /// become text. Throws `.conversion` for numbers that Lua cannot hold, and `.memory`.
  public func encode(_ value: some Encodable) throws -> LuaValue {
    try self.value(of: LuaTree(encoding: value))
  }

  /// Decodes a value of any `Decodable` type from a Lua value. Throws `.conversion` or the type's own `DecodingError`.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from value: LuaValue, options: TreeOptions = TreeOptions()
  ) throws -> Value {
    try tree(of: value, options: options).decoded(as: type)
  }
}

/// Independent of a state.
extension LuaTree {
  /// Creates the tree of anything `Encodable`. Throws `.conversion` for more than `depth` levels, and for integers
  /// beyond 64 bits.
  public init(encoding value: some Encodable, depth: Int = 64) throws {
    self = try LuaTreeEncoder.tree(of: value, path: [], depth: depth)
  }

  /// Reads a value of any `Decodable` type. Missing keys and mismatches throw `.conversion` with the path.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try LuaTreeDecoder(self, path: []).decode(type)
  }
}

/// A key of a map, or an index in a list.
///
/// Used in the paths of error messages.
struct LuaCodingKey: CodingKey {
  /// The key, or the index as text.
  let stringValue: String
  /// The index, from 1; nil for a key that is no number.
  let intValue: Int?

  /// An index in a list, from 1.
  init(_ index: Int) {
    stringValue = String(index)
    intValue = index
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }

  init?(intValue: Int) { self.init(intValue) }
}
