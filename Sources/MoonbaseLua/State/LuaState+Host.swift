import MoonbaseLuaShim

/// The table of functions that the shim calls.
extension LuaState {
  /// The Swift functions called by C, shared by all states.
  nonisolated(unsafe) static let host: UnsafePointer<MBLHost> = {  // immutable after initialization
    let host = UnsafeMutablePointer<MBLHost>.allocate(capacity: 1)
    host.initialize(
      to: MBLHost(
        call: { function, frame in
          Unmanaged<LuaHostFunction>.fromOpaque(function)._withUnsafeGuaranteedRef { $0.call(frame) }
        },
        get: { type, object, slot, frame in
          Unmanaged<LuaAnyHostType>.fromOpaque(type)._withUnsafeGuaranteedRef {
            $0.get(object, slot: Int(slot), frame: frame)
          }
        },
        set: { type, object, slot, frame in
          Unmanaged<LuaAnyHostType>.fromOpaque(type)._withUnsafeGuaranteedRef {
            $0.set(object, slot: Int(slot), frame: frame)
          }
        },
        missing: { type, object, writing, frame in
          Unmanaged<LuaAnyHostType>.fromOpaque(type)._withUnsafeGuaranteedRef {
            $0.missing(object, writing: writing, frame: frame)
          }
        },
        retain: { _ = Unmanaged<AnyObject>.fromOpaque($0).retain() },
        release: { Unmanaged<AnyObject>.fromOpaque($0).release() },
        output: { owner, stream, bytes, length in
          let owner = Unmanaged<LuaOwner>.fromOpaque(owner).takeUnretainedValue()
          return owner.state?.write(UnsafeRawBufferPointer(start: bytes, count: length), error: stream == 2) ?? true
        },
        describe: { error, buffer, capacity in
          var text = Unmanaged<LuaCrossedError>.fromOpaque(error)._withUnsafeGuaranteedRef {
            String(describing: $0.error)
          }
          return text.withUTF8 { bytes in
            if let buffer, let base = bytes.baseAddress {
              UnsafeMutableRawPointer(buffer).copyMemory(from: base, byteCount: min(bytes.count, capacity))
            }
            return bytes.count
          }
        }))
    return UnsafePointer(host)
  }()
}

/// A Swift function callable from Lua: the base class of closures and methods.
///
/// Retained by Lua with the function value. C calls it with a frame, and the subclass reads arguments from there.
class LuaHostFunction {
  /// Returns 0 for success and 1 for an error that `LuaState.fail` noted.
  func call(_ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  /// The function's name for messages, if Lua has no name for the call, as for calls by `pcall`.
  var functionName: String? { nil }
  /// Whether the function is called through a table's `__call`, with the table as first argument.
  var isCallOfTable: Bool { false }
  /// The name of a method, for messages.
  var methodName: String? { nil }
  /// The operator that the function implements, for messages.
  var `operator`: LuaOperator? { nil }
}
