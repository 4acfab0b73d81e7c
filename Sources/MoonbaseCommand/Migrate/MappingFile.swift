import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The file for the option `--mapping`.
///
/// A file without a mapping model is taken as a Lua script. The kind is detected from the contents,
/// not from the suffix.
enum MappingFile {
  /// The option is not given. The mapping is inferred.
  case none
  /// A mapping model of Xcode.
  case model(MappingModel)
  /// A script with a function for each entity.
  case script(ScriptSource)

  /// Reads the file, and prints a message about the unsupported parts of a mapping model.
  ///
  /// - Parameters:
  ///   - path: The path, or nil if the option is not given.
  ///   - quiet: Whether messages are left out.
  /// - Throws: `.cannotOpenFile`, and the errors of reading a mapping model.
  init(_ path: String?, quiet: Bool) throws {
    guard let path else {
      self = .none
      return
    }
    let source = try ModelSource(contentsOf: URL(literalPath: path))
    guard MappingModel.recognizes(source) else {
      guard source.entries == nil else {
        throw ModelError(
          .unsupportedForm, message: "\(path) is no mapping model: name an .xcmappingmodel or a Lua file")
      }
      self = .script(try ScriptSource(path: path))
      return
    }
    let model = try MappingModel(source)
    if !quiet { for warning in model.warnings { Terminal.complain("moonbase: \(warning)") } }
    self = .model(model)
  }
}

extension ScriptSource {
  /// Runs the file in a Lua state with the limits and the sandbox of `moonbase run`. All calls of functions in the file
  /// belong to one run, which SIGINT ends.
  ///
  /// - Parameters:
  ///   - settings: The limits and the sandbox.
  ///   - body: Uses the functions of the script. They must not be called later.
  /// - Returns: The result of `body`.
  func run<Result>(_ settings: ScriptSettings, _ body: (MigrationScript) throws -> Result) throws -> Result {
    let domain = try settings.requiredDomain()
    defer { domain.close() }
    domain.state.output = .standard
    // The file may use the standard streams, but no files.
    try domain.state.openFiles(LuaFileAccess(), guardian: OpenStoreGuard())
    LuaInterrupter.onSIGINT(domain.state.interrupter)
    defer { LuaInterrupter.onSIGINT(nil) }
    return try domain.state.runNested {
      let result = try body(try MigrationScript(self, in: domain))
      try domain.state.flushFiles()
      return result
    }
  }
}
