public import MoonbaseLuaModel
public import MoonbaseModel

extension ScriptSource {
  /// The lines of the keys in the table that the file returns. Parses the source, so reuse the result for several keys.
  var keyLines: ScriptKeyLines { ScriptKeyLines(text, name: name) }

  /// The place of a key in the table that the file returns, by its path of keys.
  func location(of path: [String]) -> SourceLocation { keyLines.location(of: path) }
}

extension LuaModelFile {
  /// Reads a model from a text. Throws `ModelError` with file and line for a text that is not a model.
  public func read(_ source: ScriptSource) throws(ModelError) -> ManagedObjectModel {
    try read(text: source.text, name: source.name)
  }
}
