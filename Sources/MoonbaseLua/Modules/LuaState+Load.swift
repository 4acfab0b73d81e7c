import MoonbaseLuaShim
import MoonbasePlatform

/// Loading text.
extension LuaState {
  /// Compiles a text to a function that runs it, in a new environment if none is given.
  ///
  /// ```swift
  /// let results = try state.load("return 6 * 7", name: "answer.lua")()      // [.integer(42)]
  /// ```
  /// The name appears in messages and tracebacks. Throws as `load(_:in:)` does.
  public func load(
    _ text: String, name: String, in environment: LuaEnvironment? = nil
  ) throws(LuaError) -> LuaFunction {
    try load(LuaSource(text, name: name), in: environment)
  }

  /// Compiles a source to a function that runs it, in a new environment if none is given.
  ///
  /// Throws `.syntax`, `.limit(.source)`, `.binary` for bytecode and `.encoding` for text that is not UTF-8. Preset
  /// `trusted` accepts bytecode and any encoding. Nothing runs before the function is called.
  public func load(_ source: LuaSource, in environment: LuaEnvironment? = nil) throws(LuaError) -> LuaFunction {
    try validate(source)
    let environment = if let environment { environment } else { try self.environment() }
    let globals = try environment.table.reference.index(in: self)
    remember(source)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    mbl_trace_clear(raw)
    let status = source.bytes.withUnsafeBytes { bytes in
      mbl_load_part(
        raw, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count, source.chunkName,
        globals, source.isBytecode, Int64(source.firstLine - 1), source.isExpression)
    }
    do throws(LuaError) {
      return LuaFunction(reference: try keep(status))
    } catch  where error.message == Self.overflow && !source.isBytecode {
      // The parser reports that the C stack overflowed, without the line.
      throw LuaError(
        .syntax, message: "the source nests too deeply (more than 200 levels)", script: source.name,
        line: source.deepestLine.map { $0 + source.firstLine - 1 })
    }
  }

  /// The parser's message for an overflow of the C stack by the source alone.
  private static let overflow = "C stack overflow"

  /// Throws `.limit(.source)`, `.binary` or `.encoding`.
  private func validate(_ source: LuaSource) throws(LuaError) {
    if let limit = limits.sourceSize, source.bytes.count > limit {
      throw LuaError(
        .limit(.source), message: "the source has \(source.bytes.count) bytes, more than \(limit)", script: source.name)
    }
    if preset != .trusted, source.isBytecode {
      throw LuaError(.binary, message: "bytecode is not loaded; give the source text", script: source.name)
    }
    if preset != .trusted, source.bytes.withUnsafeBufferPointer({ String(validUTF8: $0) }) == nil {
      throw LuaError(.encoding, message: "the source is not UTF-8 text", script: source.name)
    }
  }
}
