public import MoonbaseModel

extension ManagedObjectModel: CustomStringConvertible {
  /// The model in its Lua form, or a list of its entities where a value has none.
  public var description: String {
    (try? luaSource()) ?? entities.map { "\($0)" }.joined(separator: "\n")
  }
}
