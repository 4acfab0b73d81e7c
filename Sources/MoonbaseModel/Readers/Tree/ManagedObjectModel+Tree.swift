extension ManagedObjectModel {
  /// Reads a model from the tables of a Lua model file (architecture, section 4).
  ///
  /// The file has been run already; `file` is its name for messages. Throws `ModelError` with `.invalidModel` for unknown
  /// keys, wrong types and predicates that do not parse, with file, line, entity and property, and the nearest right name.
  /// Whether names resolve is checked by `resolved()`.
  public init(tree: ModelTree, file: String) throws(ModelError) {
    self = try ModelTreeReader(file: file).model(tree)
  }
}
