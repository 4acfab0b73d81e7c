import MoonbaseLua
public import MoonbaseModel
public import MoonbaseModelFormats
import MoonbasePlatform

/// Reads models written in Lua: the file runs in preset `pure` and returns the model as a table.
///
/// ```swift
/// let model = try ManagedObjectModel.read(ModelSource(contentsOf: url), readers: [LuaModelFile()])
/// ```
public struct LuaModelFile: ModelReader {
  /// Makes the reader.
  public init() {}

  private var limits: LuaLimits { LuaLimits(instructions: 100_000_000, memory: 64 << 20) }

  /// What the form is called in messages.
  public var form: String { "Lua model file" }

  /// Whether the source is text that is no markup.
  public func recognizes(_ source: ModelSource) -> Bool {
    guard source.entries == nil, !source.head.isEmpty, source.head.first != UInt8(ascii: "<") else { return false }
    return !source.head.contains { $0 == 0 || ($0 < 9) }
  }

  /// Reads the model. Throws `ModelError` with file and line.
  public func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    guard
      let text = String(validating: try source.data(limit: limits.sourceSize ?? LuaSource.greatestSize), as: UTF8.self)
    else {
      throw ModelError(.malformedFile, message: "it is no UTF-8 text", at: SourceLocation(file: source.name))
    }
    return try read(ScriptSource(name: source.name, text: text))
  }

  /// Reads a model from a text.
  public func read(_ source: ScriptSource) throws(ModelError) -> ManagedObjectModel {
    let tree: ModelTree
    let lines = source.keyLines
    do {
      let domain = try ScriptDomain(preset: .pure, limits: limits)
      let results = try domain.state.runNested { try domain.state.load(source.text, name: source.name).call([]) }
      guard let table = results.first?.tableValue else {
        let result = results.first.map { $0.typePhrase } ?? "nothing; a script is run by moonbase run"
        throw ModelError(
          .malformedFile, message: "a model file returns a table; this one returns \(result)",
          at: SourceLocation(file: source.name))
      }
      guard try ReturnedTable.isModel(table) || !ReturnedTable.isExtension(table) else {
        throw ModelError(
          .malformedFile,
          message:
            "this file is an extension, not a model: it goes with one (moonbase run --model MODEL --extension \(source.name), or "
            + "extensions of moonbase.open)",
          at: SourceLocation(file: source.name))
      }
      tree = try ModelTree(table, domain: domain, lines: lines)
    } catch let error as ModelError {
      throw error
    } catch let error as LuaError {
      let code: ModelError.Code =
        error.kind == .interrupted ? .interrupted : error.kind.limit != nil ? .limitExceeded : .malformedFile
      throw ModelError(
        code, message: error.message, at: SourceLocation(file: error.script ?? source.name, line: error.line))
    } catch {
      throw ModelError(.malformedFile, message: "\(error)", at: SourceLocation(file: source.name))
    }
    let mistakes = Mistakes()
    for duplicate in lines.duplicates { mistakes.add(duplicate) }
    var model = ManagedObjectModel()
    mistakes.attempt { () throws(ModelError) in model = try ManagedObjectModel(tree: tree, file: source.name) }
    try mistakes.finish()
    return model
  }
}

extension ModelTree {
  /// What taking over an entry costs, in units of work.
  private static var entryUnits: Int { 10 }

  /// Makes a tree of a Lua table, with the lines of its keys.
  init(_ table: LuaTable, domain: ScriptDomain, lines: ScriptKeyLines, path: [String] = []) throws {
    guard path.count < 20 else {
      throw ModelError(
        .malformedFile, message: "\(path.joined(separator: ".")): the tables are nested too deep",
        at: lines.location(of: path))
    }
    let count = try table.count
    let list = try (0..<count).map {
      try HostWork.charge(Self.entryUnits)
      return try ModelTree(try table.get($0 + 1), domain: domain, lines: lines, path: path + ["\($0 + 1)"])
    }
    var entries: [(place: (Int, Int, String), entry: Entry)] = []
    for (key, value) in try table.pairs {
      try HostWork.charge(Self.entryUnits)
      if case .integer(let index) = key, (1...Int64(max(count, 1))).contains(index), index <= count { continue }
      guard let name = key.textValue else {
        throw ModelError(
          .malformedFile, message: "\(path.joined(separator: ".")): a key must be a name, not \(key.typePhrase)",
          at: lines.location(of: path))
      }
      let entry = Entry(name, tree: try ModelTree(value, domain: domain, lines: lines, path: path + [name]))
      entries.append(((entry.tree.line ?? .max, lines.place(of: path + [name]) ?? .max, name), entry))
    }
    // Lua keeps no order of names; the place in the file gives one.
    try entries.sort {
      try HostWork.charge()
      return $0.place < $1.place
    }
    self.init(.table(list: list, entries: entries.map(\.entry)), line: lines.location(of: path).line)
  }

  private init(_ value: LuaValue, domain: ScriptDomain, lines: ScriptKeyLines, path: [String]) throws {
    if case .table(let table) = value {
      try self.init(table, domain: domain, lines: lines, path: path)
      return
    }
    let place = lines.location(of: path)
    do {
      self.init(.value(try domain.graphValue(from: value)), line: place.line)
    } catch {
      throw ModelError(.malformedFile, message: "\(path.joined(separator: ".")): \(error)", at: place)
    }
  }
}
