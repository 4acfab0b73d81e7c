import MoonbaseLua
public import MoonbaseModel
public import MoonbaseModelFormats
import MoonbasePlatform

/// Reads models written in Lua. The file runs in preset `pure` and returns the model as a table.
///
/// ```swift
/// let model = try ManagedObjectModel.read(ModelSource(contentsOf: url), readers: [LuaModelFile()])
/// ```
///
/// A model file is a program: it may compute its table, but it has no access to files, time or
/// random numbers. A reader may be used from any thread; each reading has a Lua state of its own.
public struct LuaModelFile: ModelReader {
  /// A reader of model files.
  public init() {}

  /// The limits of a model file: instructions, and memory in bytes.
  private var limits: LuaLimits { LuaLimits(instructions: 100_000_000, memory: 64 << 20) }

  /// The name of the format in messages.
  public var form: String { "Lua model file" }

  /// Whether the source is text other than markup.
  ///
  /// Any text may be a Lua file, so the reader is asked after readers of other formats.
  public func recognizes(_ source: ModelSource) -> Bool {
    guard source.entries == nil, !source.head.isEmpty, source.head.first != UInt8(ascii: "<") else { return false }
    return !source.head.contains { $0 == 0 || ($0 < 9) }
  }

  /// Reads the model. Throws `ModelError` with file and line.
  ///
  /// The error is `.malformedFile` for a file that does not run, `.limitExceeded` and
  /// `.interrupted` for a run that was ended, and `.invalidModel` for mistakes in the table.
  public func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    guard
      let text = String(validating: try source.data(limit: limits.sourceSize ?? LuaSource.greatestSize), as: UTF8.self)
    else {
      throw ModelError(.malformedFile, message: "it is no UTF-8 text", at: SourceLocation(file: source.name))
    }
    return try read(text: text, name: source.name)
  }

  /// Reads a model from a text.
  ///
  /// Keys that are given twice are mistakes too, although Lua would keep the last value.
  package func read(text: String, name: String) throws(ModelError) -> ManagedObjectModel {
    let tree: ModelTree
    let lines = ScriptKeyLines(text, name: name)
    do {
      let state = try LuaModelState(limits: limits)
      // Converting the table has the same limits as the script.
      tree = try state.state.runNested {
        try ModelTreeTaker(lines: lines, value: LuaModelState.value).tree(try Self.table(of: text, name, in: state))
      }
    } catch let error as ModelError {
      throw error
    } catch let error as LuaError {
      let code: ModelError.Code =
        error.kind == .interrupted ? .interrupted : error.kind.limit != nil ? .limitExceeded : .malformedFile
      throw ModelError(
        code, message: error.message, at: SourceLocation(file: error.script ?? name, line: error.line))
    } catch {
      throw ModelError(.malformedFile, message: "\(error)", at: SourceLocation(file: name))
    }
    let mistakes = Mistakes()
    for duplicate in lines.duplicates { mistakes.add(duplicate) }
    var model = ManagedObjectModel()
    mistakes.attempt { () throws(ModelError) in model = try ManagedObjectModel(tree: tree, file: name) }
    try mistakes.finish()
    return model
  }

  /// The table that a model file returns.
  ///
  /// Throws `.malformedFile` for another result, and for an extension file.
  private static func table(of text: String, _ name: String, in state: LuaModelState) throws -> LuaTable {
    let results = try state.state.load(text, name: name).call([])
    let table = try ReturnedTable.table(in: results, of: "a model file") { message in
      ModelError(.malformedFile, message: message, at: SourceLocation(file: name))
    }
    guard try ReturnedTable.isModel(table) || !ReturnedTable.isExtension(table) else {
      throw ModelError(
        .malformedFile,
        message:
          "this file is an extension, not a model: it goes with one (moonbase run --model MODEL --extension \(name), or "
          + "extensions of moonbase.open)",
        at: SourceLocation(file: name))
    }
    return table
  }
}
