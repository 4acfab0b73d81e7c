import MoonbaseLua
import MoonbaseModel

extension ScriptSource {
  /// Where the keys of the table that the file returns are written. The source is read for it: ask once for many keys.
  var keyLines: ScriptKeyLines { ScriptKeyLines(self) }

  /// The place of a key in the table that the file returns, given the keys that lead to it.
  func location(of path: [String]) -> SourceLocation { keyLines.location(of: path) }
}

/// The places of the keys of a script's table.
struct ScriptKeyLines {
  private let name: String
  private let lines: LuaTableLines

  init(_ source: ScriptSource) {
    name = source.name
    lines = LuaTableLines(LuaSource(source.text, name: source.name))
  }

  /// Which of all keys this is, in the order written; nil for one that no table writes out.
  func place(of path: [String]) -> Int? { lines.place(of: path) }

  /// One error for each name that a table gives twice.
  var duplicates: [ModelError] {
    lines.duplicates.map { duplicate in
      ModelError(
        .invalidModel,
        message:
          "\(duplicate.path.joined(separator: ".")) is given twice, first in line \(duplicate.firstLine): rename one of them",
        at: SourceLocation(file: name, line: duplicate.line))
    }
  }

  /// The place of a key; one that a table does not write out has the place of the one around it.
  func location(of path: [String]) -> SourceLocation { SourceLocation(file: name, line: lines.line(of: path)) }
}
