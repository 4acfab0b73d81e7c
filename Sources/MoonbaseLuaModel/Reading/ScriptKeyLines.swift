import MoonbaseLua
package import MoonbaseModel

/// The places of the keys of a script's table.
package struct ScriptKeyLines {
  private let name: String
  private let lines: LuaTableLines

  package init(_ text: String, name: String) {
    self.name = name
    lines = LuaTableLines(LuaSource(text, name: name))
  }

  /// Which of all keys this is, in the order written; nil for one that no table writes out.
  package func place(of path: [String]) -> Int? { lines.place(of: path) }

  /// One error for each name that a table gives twice.
  package var duplicates: [ModelError] {
    lines.duplicates.map { duplicate in
      ModelError(
        .invalidModel,
        message:
          "\(duplicate.path.joined(separator: ".")) is given twice, first in line \(duplicate.firstLine): rename one of them",
        at: SourceLocation(file: name, line: duplicate.line))
    }
  }

  /// The place of a key; one that a table does not write out has the place of the one around it.
  package func location(of path: [String]) -> SourceLocation { SourceLocation(file: name, line: lines.line(of: path)) }
}
