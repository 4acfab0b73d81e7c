import MoonbaseLua
package import MoonbaseModel

/// The places of the keys of a script's table.
package struct ScriptKeyLines {
  private let name: String
  private let lines: LuaTableLines

  /// Finds the keys in a text.
  package init(_ text: String, name: String) {
    self.name = name
    lines = LuaTableLines(LuaSource(text, name: name))
  }

  /// The position of a key in source order; nil if it is not in the source.
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
