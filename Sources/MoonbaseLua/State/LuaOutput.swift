import MoonbaseLuaShim
import MoonbasePlatform

/// Where a script's `print` and `io` write.
public struct LuaOutput {
  let body: (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void

  /// Bytes go to `body`, which copies what it keeps.
  public init(_ body: @escaping (_ bytes: UnsafeRawBufferPointer, _ isError: Bool) -> Void) { self.body = body }

  /// Bytes go nowhere.
  public static var none: LuaOutput { LuaOutput { _, _ in } }

  /// The standard streams of the process.
  public static var standard: LuaOutput { LuaOutput(writeToProcess) }

  private static func writeToProcess(_ bytes: UnsafeRawBufferPointer, _ isError: Bool) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
        write(isError ? STDERR_FILENO : STDOUT_FILENO, $0.baseAddress, $0.count)
      }
      guard written > 0 else {
        if written < 0, errno == EINTR { continue }
        return
      }
      rest = rest.dropFirst(written)
    }
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
