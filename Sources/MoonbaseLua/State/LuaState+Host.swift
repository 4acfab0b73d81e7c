import MoonbaseLuaShim

extension LuaState {
  /// The functions through which C calls Swift: the same for all states.
  nonisolated(unsafe) static let host: UnsafePointer<MBLHost> = {  // initialized once, and only read after that
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

/// What Lua calls as a function: the base class of closures and methods.
class LuaHostFunction {
  func call(_ frame: UnsafeMutablePointer<MBLFrame>) -> Int32 { 0 }
  /// The name of a function, for messages about calls that Lua has no name for, such as those of `pcall`.
  var functionName: String? { nil }
  /// Whether it is called in the place of a table, which is its first argument.
  var isCallOfTable: Bool { false }
  /// The name of a method, for messages.
  var methodName: String? { nil }
  /// The operator that it is, for messages.
  var `operator`: LuaOperator? { nil }
}
