public import MoonbaseModel

extension ManagedObjectModel {
  /// Reads a model from the tables of a Lua model file, whose form `docs/models.md` describes.
  ///
  /// The file has been run already; `file` is its name in messages. Throws `ModelError` with `.invalidModel` for
  /// unknown keys, wrong types and invalid predicates, with file, line, entity and property, and a suggestion. Names
  /// are resolved by `resolved()`.
  public init(tree: ModelTree, file: String) throws(ModelError) {
    if tree.isNestedTooDeeply {
      throw ModelError(
        .invalidModel, message: "tables are nested more than \(TreeLimits.greatestDepth) levels deep, or in themselves",
        at: SourceLocation(file: file, line: tree.line))
    }
    self = try ModelTreeReader(file: file).model(tree)
  }

  /// The model as the tables of a Lua model file. Reading them gives an equal model.
  ///
  /// Throws `ModelError` with `.unsupportedForm` for a default value or user info that Lua cannot express.
  public func tree() throws(ModelError) -> ModelTree {
    try checkNesting()
    return try ModelTreeWriter.write(try withInheritanceFromChildren())
  }

  /// The model as the source of a Lua model file: `return { entities = { Person = { ... } } }`.
  public func luaSource() throws(ModelError) -> String { try tree().luaSource }
}

extension ManagedObjectModel: CustomStringConvertible {
  /// The model in its Lua form, or a list of its entities if a value cannot be expressed in Lua.
  public var description: String {
    (try? luaSource()) ?? entities.map { "\($0)" }.joined(separator: "\n")
  }
}
