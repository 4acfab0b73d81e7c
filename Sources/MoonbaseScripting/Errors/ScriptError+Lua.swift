import MoonbaseLua
import MoonbaseModel

extension ScriptError {
  /// Runs code that reads extensions and converts Lua errors to `ScriptError` with file and line, so that apps need not
  /// know Lua. `os.exit` is not converted.
  static func telling<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as LuaError where error.kind.exitStatus == nil {
      throw Self(error)
    }
  }

  /// The error of a wrong argument or operand, with the line of the call. Lua's own errors about arguments have no
  /// code; a script sees `.invalidValue`.
  init(mistake error: LuaError) {
    self.init(.invalidValue, message: error.message, at: Self.location(of: error))
  }

  /// The error of a file or function that failed, with advice about names that extensions lack.
  private init(_ error: LuaError) {
    self.init(
      error.codeOfEnd ?? Self.code(of: error),
      message: [error.message, error.adviceForExtension].compactMap(\.self).joined(separator: "; "),
      at: Self.location(of: error), underlying: error)
  }

  /// The innermost line of a script in the error; nil for errors outside of scripts.
  private static func location(of error: LuaError) -> SourceLocation? {
    error.script.map { SourceLocation(file: $0, line: error.line) }
  }

  /// The code of an error: of a file that does not run, of a host error passed through Lua, or of exhausted memory. The
  /// default is `.invalidExtension`.
  private static func code(of error: LuaError) -> Code {
    if error.kind == .memory { return .limitExceeded }
    return error.codeOfScript ?? (error.underlying as? any CodedError)?.code ?? .invalidExtension
  }
}
