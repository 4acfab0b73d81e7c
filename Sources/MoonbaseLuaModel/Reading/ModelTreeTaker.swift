package import MoonbaseLua
package import MoonbaseModel
package import MoonbaseModelFormats
import MoonbasePlatform

/// Converts the table that a script returned to a tree.
///
/// A table may occur in many places of a model, and the tree has a copy for each. Their memory is charged to the
/// current run while this object lives.
package final class ModelTreeTaker {
  /// Converts a Lua value other than a table.
  private let value: (LuaValue) throws -> Value
  /// The lines of the keys in the source.
  private let lines: ScriptKeyLines
  /// The memory charged for the tree.
  private var memory = HostMemory()

  /// The units of work charged for an entry, and its bytes besides its name.
  private static let entry = (units: 10, weight: 256)

  /// A converter with the lines of the keys.
  package init(lines: ScriptKeyLines, value: @escaping (LuaValue) throws -> Value) {
    (self.lines, self.value) = (lines, value)
  }

  /// A tree of a Lua table, with the lines of its keys.
  ///
  /// Throws `.malformedFile` for tables nested more than 20 levels deep, for keys that are no
  /// names, and for values that cannot be stored.
  package func tree(_ table: LuaTable, path: [String] = []) throws -> ModelTree {
    guard path.count < 20 else {
      throw ModelError(
        .malformedFile, message: "\(path.joined(separator: ".")): the tables are nested too deep",
        at: lines.location(of: path))
    }
    let count = try table.count
    let list = try (0..<count).map {
      let value = try table.get($0 + 1)
      try charge(value)
      return try tree(of: value, path: path + ["\($0 + 1)"])
    }
    return ModelTree(
      .table(list: list, entries: try entries(of: table, behind: count, path: path)),
      line: lines.location(of: path).line)
  }

  /// The named entries. Lua tables are unordered, so the entries are sorted by their positions in the file.
  ///
  /// Integer keys of the list part are skipped.
  private func entries(of table: LuaTable, behind count: Int, path: [String]) throws -> [ModelTree.Entry] {
    var entries: [(place: (Int, Int, String), entry: ModelTree.Entry)] = []
    for (key, value) in try table.pairs {
      try charge(value, name: key.textValue?.utf8.count ?? 0)
      if case .integer(let index) = key, (1...Int64(max(count, 1))).contains(index), index <= count { continue }
      guard let name = key.textValue else {
        throw ModelError(
          .malformedFile, message: "\(path.joined(separator: ".")): a key must be a name, not \(key.typePhrase)",
          at: lines.location(of: path))
      }
      try check(name, path: path)
      let entry = ModelTree.Entry(name, tree: try tree(of: value, path: path + [name]))
      entries.append(((entry.tree.line ?? .max, lines.place(of: path + [name]) ?? .max, name), entry))
    }
    try entries.sort {
      try HostWork.charge()
      return $0.place < $1.place
    }
    return entries.map(\.entry)
  }

  /// The tree of a value at a path of keys.
  private func tree(of value: LuaValue, path: [String]) throws -> ModelTree {
    if case .table(let table) = value { return try tree(table, path: path) }
    let place = lines.location(of: path)
    if let text = value.textValue { try check(text, path: path) }
    do {
      return ModelTree(.value(try self.value(value)), line: place.line)
    } catch {
      throw ModelError(.malformedFile, message: "\(path.joined(separator: ".")): \(error)", at: place)
    }
  }

  /// Checks a text, because any text of a model may be used as a name.
  ///
  /// Throws `.malformedFile`.
  private func check(_ text: String, path: [String]) throws {
    guard let mistake = TextLimits.mistake(ofName: text) else { return }
    throw ModelError(
      .malformedFile, message: "\(path.joined(separator: ".")): it has \(mistake)", at: lines.location(of: path))
  }

  /// Charges an entry with the bytes of its name and its text.
  private func charge(_ value: LuaValue, name: Int = 0) throws {
    try memory.hold(Self.entry.weight + name + (value.stringValue?.count ?? 0))
    try HostWork.charge(Self.entry.units)
  }
}
