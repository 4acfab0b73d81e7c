import MoonbaseLuaShim
import MoonbasePlatform

/// A compiled source, for any number of states.
///
/// ```swift
/// let chunk = try LuaChunk(LuaSource("local a = ... return a * 2", name: "twice.lua"))
/// try firstState.load(chunk).first(21)      // .integer(42)
/// try secondState.load(chunk).first(4)      // .integer(8)
/// ```
///
/// Holds Lua bytecode compiled from text. Scripts can never load bytecode. Compiling happens in a state of its own.
public struct LuaChunk: Sendable {
  /// The source.
  public let source: LuaSource
  /// Bytecode of this version of Lua.
  let code: [UInt8]

  /// Compiles a source. Throws as `LuaState.load` does. Does not run the source.
  public init(_ source: LuaSource, sourceSize: Int? = LuaLimits().sourceSize) throws(LuaError) {
    let state = try LuaState(preset: .pure, limits: LuaLimits(sourceSize: sourceSize))
    let function = try state.load(source)
    guard case .string(let code) = try state.dump(function) else {
      throw LuaError(.memory, message: "not enough memory")
    }
    self.source = source
    self.code = code.bytes
  }
}

/// Loading compiled sources.
extension LuaState {
  /// The bytecode of a function as a string, with debug information.
  func dump(_ function: LuaFunction) throws(LuaError) -> LuaValue {
    let status = mbl_dump(raw, function.reference.index, false)
    guard status == .OK else { throw popError(status) }
    return try popTop()
  }

  /// Creates a function that runs a compiled chunk, in a new environment if none is given. Throws `.memory`; no limit
  /// of the source's size applies.
  public func load(_ chunk: LuaChunk, in environment: LuaEnvironment? = nil) throws(LuaError) -> LuaFunction {
    let environment = if let environment { environment } else { try self.environment() }
    let globals = try environment.table.reference.index(in: self)
    remember(chunk.source)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    mbl_trace_clear(raw)
    let status = chunk.code.withUnsafeBytes { bytes in
      mbl_load(
        raw, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count, chunk.source.chunkName,
        globals, true)
    }
    return LuaFunction(reference: try keep(status))
  }
}
