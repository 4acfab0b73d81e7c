import MoonbaseLua
package import MoonbaseModel

/// The places of the keys of a script's table.
///
/// Lua tables do not know the lines of their keys. So the source is scanned separately, and errors
/// of a model can name a line.
package struct ScriptKeyLines {
  /// The name of the file, for locations.
  private let name: String
  /// The keys found in the source, with their lines.
  private let lines: LuaTableLines

  /// Finds the keys in a text.
  ///
  /// The text is scanned once and not run. Keys that a program computes are not found.
  package init(_ text: String, name: String) {
    self.name = name
    lines = LuaTableLines(LuaSource(text, name: name))
  }

  /// The position of a key in source order; nil if it is not in the source.
  ///
  /// `path` are the keys from the outermost table, as `["entities", "Person", "attributes",
  /// "age"]`.
  package func place(of path: [String]) -> Int? { lines.place(of: path) }

  /// An error for each duplicate key.
  package var duplicates: [ModelError] {
    lines.duplicates.map { duplicate in
      ModelError(
        .invalidModel,
        message:
          "\(duplicate.path.joined(separator: ".")) is given twice, first in line \(duplicate.firstLine): rename one of them",
        at: SourceLocation(file: name, line: duplicate.line))
    }
  }

  /// The place of a key; for a key that is not in the source, the place of its nearest ancestor.
  package func location(of path: [String]) -> SourceLocation { SourceLocation(file: name, line: lines.line(of: path)) }
}
