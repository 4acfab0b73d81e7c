public import MoonbaseModel

extension ManagedObjectModel {
  /// Reads a model from the tables of a Lua model file (architecture, section 4).
  ///
  /// The file has been run already; `file` is its name for messages. Throws `ModelError` with `.invalidModel` for unknown
  /// keys, wrong types and predicates that do not parse, with file, line, entity and property, and the nearest right name.
  /// Whether names resolve is checked by `resolved()`.
  public init(tree: ModelTree, file: String) throws(ModelError) {
    if tree.isNestedTooDeeply {
      throw ModelError(
        .invalidModel, "tables are nested more than \(TreeLimits.greatestDepth) levels deep, or in themselves",
        at: SourceLocation(file: file, line: tree.line))
    }
    self = try ModelTreeReader(file: file).model(tree)
  }
}
