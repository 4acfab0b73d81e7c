import MoonbaseLuaShim
import MoonbasePlatform

/// Where a script's `print` and `io` write.
public struct LuaOutput {
  let body: (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void
  let flush: () -> Void
  /// Whether it is the process's own.
  var isStandard = false

  /// Bytes go to `body`, which copies what it keeps; `flush` writes what it kept, when a script asks for that or reads from
  /// standard input.
  public init(
    _ body: @escaping (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void, flush: @escaping () -> Void = {}
  ) {
    self.body = body
    self.flush = flush
  }

  /// Bytes go nowhere.
  public static var none: LuaOutput { LuaOutput { _, _ in } }

  /// The standard streams of the process, through C's buffers, in which Lua's own `io` of preset `trusted` writes too.
  public static var standard: LuaOutput {
    var output = LuaOutput(
      { bytes, isError in (isError ? StandardStream.error : .output).write(bytes) }, flush: StandardStream.flush)
    output.isStandard = true
    return output
  }
}

extension LuaState {
  /// False, with the run ended, when the output limit is passed.
  func write(_ bytes: UnsafeRawBufferPointer, error isError: Bool) -> Bool {
    if let limit = limits.outputSize, mbl_output_add(raw, UInt64(bytes.count)) > UInt64(limit) {
      mbl_set_abort(raw, .output)
      return false
    }
    output.body(bytes, isError)
    return true
  }
}
