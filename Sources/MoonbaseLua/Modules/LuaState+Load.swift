import MoonbaseLuaShim
import MoonbasePlatform

extension LuaState {
  /// Compiles a text; the function runs it, in a fresh environment if none is given.
  public func load(
    _ text: String, name: String, in environment: LuaEnvironment? = nil
  ) throws(LuaError) -> LuaFunction {
    try load(LuaSource(text, name: name), in: environment)
  }

  /// Compiles a source; the function runs it, in a fresh environment if none is given.
  ///
  /// Throws `.syntax`, `.binary` for bytecode and `.encoding` for what is not UTF-8 (but in preset `trusted`, which takes
  /// both), and `.limit(.source)`.
  public func load(_ source: LuaSource, in environment: LuaEnvironment? = nil) throws(LuaError) -> LuaFunction {
    try validate(source)
    let environment = if let environment { environment } else { try self.environment() }
    let globals = try environment.table.reference.index(in: self)
    remember(source)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    mbl_trace_clear(raw)
    let status = source.bytes.withUnsafeBytes { bytes in
      mbl_load(
        raw, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count, source.chunkName,
        globals, source.isBytecode)
    }
    do throws(LuaError) {
      return LuaFunction(reference: try keep(status))
    } catch  where error.kind == .stack && !source.isBytecode {
      // The parser only says that C's stack is at its end, and not where.
      throw LuaError(
        .syntax, "the source nests too deeply (more than 200 levels)", script: source.name,
        line: source.deepestLine, traceback: [], underlying: nil, value: nil)
    }
  }

  private func validate(_ source: LuaSource) throws(LuaError) {
    if let limit = limits.sourceSize, source.bytes.count > limit {
      throw error(.limit(.source), "the source has \(source.bytes.count) bytes, more than \(limit)", in: source)
    }
    if preset != .trusted, source.isBytecode {
      throw error(.binary, "bytecode is not loaded; give the source text", in: source)
    }
    if preset != .trusted, source.bytes.withUnsafeBufferPointer({ String(validUTF8: $0) }) == nil {
      throw error(.encoding, "the source is not UTF-8 text", in: source)
    }
  }

  private func error(_ kind: LuaError.Kind, _ message: String, in source: LuaSource) -> LuaError {
    LuaError(kind, message, script: source.name, line: nil, traceback: [], underlying: nil, value: nil)
  }

  /// Keeps the source for code frames, under the short name that Lua's messages use.
  func remember(_ source: LuaSource) {
    if sources.count >= 256 { sources.removeAll() }
    sources[source.name] = source
  }
}
