import MoonbaseLuaShim
import MoonbasePlatform

/// The first result of a fast call, read in Lua's memory, with access to further results.
///
/// ```swift
/// let text = try call.run { $0.set(0, integer: 7) } reading: { $0.isNil ? nil : $0.text }
/// ```
///
/// A result is not copyable and cannot outlive the closure that receives it. Accessors return nil for a value of
/// another type; they never convert.
public struct LuaResult: ~Copyable {
  // The parts of a scalar result, returned in registers and read without a call.
  /// The bits of an integer, a boolean or a floating-point number.
  @usableFromInline let word: Int64
  /// The type, a raw value of `MBLTag`.
  @usableFromInline let tag: UInt32
  /// The height of the stack below the result; negative if the result is not on the stack.
  @usableFromInline let top: Int32
  /// The call, which outlives its result.
  private let call: Unmanaged<LuaFastCall>
  /// The state, retained by a call that is its own run.
  let holder: Unmanaged<LuaState>?

  /// For a result of the fast path.
  init(_ plain: MBLFastResult, of call: Unmanaged<LuaFastCall>) {
    word = plain.word
    tag = UInt32(plain.tag)
    top = plain.top
    self.call = call
    holder = nil
  }

  /// For a result of `beginSlowly`.
  init(_ plain: MBLValue, of call: Unmanaged<LuaFastCall>, top: Int32, holder: Unmanaged<LuaState>?) {
    word = plain.integer
    tag = plain.tag.rawValue
    self.top = top
    self.call = call
    self.holder = holder
  }

  /// The result with the bytes of a string or the object of a handle.
  private var plain: MBLValue {
    var plain = MBLValue()
    if tag > MBLTag.number.rawValue, let state = try? call.takeUnretainedValue().state {
      mbl_get(mbl_thread(state.raw), top + 1, &plain)
    } else {
      plain.integer = word
      plain.tag = MBLTag(rawValue: tag) ?? .nil
    }
    return plain
  }

  /// Whether the result is nil, or missing.
  @inlinable public var isNil: Bool { tag == 0 }

  /// Whether the function returned no result, not even nil.
  public var isMissing: Bool { tag == 0 && word == Int64(MBLNoResult) }

  /// The boolean; nil for other values.
  @inlinable public var boolean: Bool? { tag == 1 ? word != 0 : nil }

  /// The integer; nil for other values, also for an integral float. An integer of 64 bits does not always fit into a
  /// number exactly.
  @inlinable public var integer: Int64? { tag == 2 ? word : nil }

  /// The number, also of an integer; nil for other values.
  @inlinable public var number: Double? {
    switch tag {
    case 3: Double(bitPattern: UInt64(bitPattern: word))
    case 2: Double(word)
    default: nil
    }
  }

  /// The text, if it is a string of UTF-8. Nil for any other value and for invalid UTF-8. The bytes are copied.
  public var text: String? {
    withBytes { String(validUTF8: $0.assumingMemoryBound(to: UInt8.self)) } ?? nil
  }

  /// Calls `body` with the bytes of a string; nil for other values.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
    let plain = plain
    guard plain.tag == .string else { return nil }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// The host object; nil for an object of another class and for other values.
  public func object<Object: AnyObject>(as type: Object.Type = Object.self) -> Object? {
    let plain = plain
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// The result as a value that may be kept. Throws `.memory`, and `.runtime` for a handle whose scope has ended.
  public var value: LuaValue {
    get throws(LuaError) {
      try call.takeUnretainedValue().state.value(plain)
    }
  }

  /// Another result of the function, counted from 1; `.nil` if there are fewer results. Index 0 is the first result
  /// itself.
  public func further(_ index: Int) throws(LuaError) -> LuaValue {
    guard top >= 0 else { return .nil }
    let state = try call.takeUnretainedValue().state
    var plain = MBLValue()
    mbl_get(mbl_thread(state.raw), top + 1 + Int32(clamping: index), &plain)
    return try state.value(plain)
  }
}
