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
  /// become text.
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

extension LuaTree {
  /// Creates the tree of anything `Encodable`.
  public init(encoding value: some Encodable, depth: Int = 64) throws {
    self = try LuaTreeEncoder.tree(of: value, path: [], depth: depth)
  }

  /// Reads a value of any `Decodable` type.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try LuaTreeDecoder(self, path: []).decode(type)
  }
}

/// A key of a map, or an index in a list.
struct LuaCodingKey: CodingKey {
  let stringValue: String
  let intValue: Int?

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
