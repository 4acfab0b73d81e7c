public import MoonbaseLuaModel
public import MoonbaseModel

extension ScriptSource {
  /// Where the keys of the table that the file returns are written. The source is read for it: ask once for many keys.
  var keyLines: ScriptKeyLines { ScriptKeyLines(text, name: name) }

  /// The place of a key in the table that the file returns, given the keys that lead to it.
  func location(of path: [String]) -> SourceLocation { keyLines.location(of: path) }
}

extension LuaModelFile {
  /// Reads a model from a text.
  public func read(_ source: ScriptSource) throws(ModelError) -> ManagedObjectModel {
    try read(text: source.text, name: source.name)
  }
}
