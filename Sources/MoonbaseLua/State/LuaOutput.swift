import MoonbaseLuaShim
import MoonbasePlatform

/// Receives the text that scripts write with `print` and `io`.
///
/// ```swift
/// var log: [UInt8] = []
/// state.output = LuaOutput { bytes, isError in if !isError { log.append(contentsOf: bytes) } }
/// ```
///
/// Called on the thread of the state, within a run. The bytes are not always complete UTF-8.
public struct LuaOutput {
  /// Receives all bytes.
  let body: (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void
  /// Passes buffered bytes on.
  let flush: () -> Void
  /// Whether the output goes to the standard streams of the process.
  var isStandard = false

  /// Passes bytes to `body`, which must copy any bytes that it keeps. `flush` is called when a script flushes or reads
  /// from standard input.
  public init(
    _ body: @escaping (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void, flush: @escaping () -> Void = {}
  ) {
    self.body = body
    self.flush = flush
  }

  /// Discards all bytes.
  public static var none: LuaOutput { LuaOutput { _, _ in } }

  /// Writes to the standard streams of the process, through C's buffers, which Lua's own `io` of preset `trusted` also
  /// uses.
  public static var standard: LuaOutput {
    var output = LuaOutput(
      { bytes, isError in (isError ? StandardStream.error : .output).write(bytes) }, flush: StandardStream.flush)
    output.isStandard = true
    return output
  }
}

/// Writing for scripts.
extension LuaState {
  /// Writes a line to the scripts' error stream. Not counted if no limit is set.
  package func complain(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { _ = write(UnsafeRawBufferPointer($0), error: true) }
  }

  /// Writes bytes. If the output limit is exceeded, ends the run and returns false. Bytes beyond the limit are not
  /// written at all.
  func write(_ bytes: UnsafeRawBufferPointer, error isError: Bool) -> Bool {
    if let limit = limits.outputSize, mbl_output_add(raw, UInt64(bytes.count)) > UInt64(limit) {
      mbl_set_abort(raw, .output)
      return false
    }
    output.body(bytes, isError)
    return true
  }
}
