import MoonbaseLuaShim
import MoonbasePlatform

/// The first result of a fast call, read where Lua keeps it, and the way to those after it.
///
/// ```swift
/// let text = try call.run { $0.set(0, integer: 7) } reading: { $0.isNil ? nil : $0.text }
/// ```
public struct LuaResult: ~Copyable {
  // The parts of a plain value. Callers read numbers from them without a call, and they are returned in registers.
  @usableFromInline let word: Int64
  @usableFromInline let tag: UInt32
  /// The height of the stack below the result; less than 0 where the result is not on the stack.
  @usableFromInline let top: Int32
  /// The call, which outlives its result.
  private let call: Unmanaged<LuaFastCall>
  /// The state that a call keeps which is a run of its own.
  let holder: Unmanaged<LuaState>?

  init(_ plain: MBLFastResult, of call: Unmanaged<LuaFastCall>) {
    word = plain.word
    tag = UInt32(plain.tag)
    top = plain.top
    self.call = call
    holder = nil
  }

  init(_ plain: MBLValue, of call: Unmanaged<LuaFastCall>, top: Int32, holder: Unmanaged<LuaState>?) {
    word = plain.integer
    tag = plain.tag.rawValue
    self.top = top
    self.call = call
    self.holder = holder
  }

  /// The plain value, with the bytes of a string or the object of a handle.
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

  /// Whether it is nil, or the function returned nothing.
  @inlinable public var isNil: Bool { tag == 0 }

  /// Whether the function returned nothing at all, not even nil.
  public var isMissing: Bool { tag == 0 && word == Int64(MBLNoResult) }

  /// The boolean; nil for anything else.
  @inlinable public var boolean: Bool? { tag == 1 ? word != 0 : nil }

  /// The integer; nil for anything else, for an integral float too.
  @inlinable public var integer: Int64? { tag == 2 ? word : nil }

  /// The number, also of an integer; nil for anything else.
  @inlinable public var number: Double? {
    switch tag {
    case 3: Double(bitPattern: UInt64(bitPattern: word))
    case 2: Double(word)
    default: nil
    }
  }

  /// The text, if it is a string of UTF-8.
  public var text: String? {
    withBytes { String(validUTF8: $0.assumingMemoryBound(to: UInt8.self)) } ?? nil
  }

  /// Calls `body` with the bytes of a string; nil for anything else.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
    let plain = plain
    guard plain.tag == .string else { return nil }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// The host object, if it is of this class.
  public func object<Object: AnyObject>(as type: Object.Type = Object.self) -> Object? {
    let plain = plain
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// The result as a value that may be kept.
  public var value: LuaValue {
    get throws(LuaError) {
      try call.takeUnretainedValue().state.value(plain)
    }
  }

  /// Another result of the function, counted from 1; `.nil` where it gave no more.
  public func further(_ index: Int) throws(LuaError) -> LuaValue {
    guard top >= 0 else { return .nil }
    let state = try call.takeUnretainedValue().state
    var plain = MBLValue()
    mbl_get(mbl_thread(state.raw), top + 1 + Int32(clamping: index), &plain)
    return try state.value(plain)
  }
}
