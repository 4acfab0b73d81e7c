import MoonbaseLuaShim
import MoonbasePlatform

/// One Lua function, ready to be called many times for one result, without allocations for scalars.
///
/// ```swift
/// let call = LuaFastCall(function, parameters: 2)
/// for row in rows {
///   call.set(0, integer: row.price)
///   call.set(1, integer: row.quantity)
///   total += try call.run { $0.integer ?? 0 }
/// }
/// ```
///
/// The arguments are handed over when `run` begins, so a function may be called again from within itself.
public final class LuaFastCall {
  private let reference: LuaReference
  private let index: Int32
  private let buffer: LuaArgumentBuffer
  @usableFromInline let count: Int
  /// The buffer's values, which stay where they are, since the number of arguments does. Callers write into them without a
  /// call, by the layout of `MBLValue`: the number, its length, its tag.
  @usableFromInline let words: UnsafeMutableRawPointer
  private let values: UnsafeMutablePointer<MBLValue>
  private let holdsMore: UnsafeMutablePointer<Bool>
  private let home: UnsafeMutablePointer<OpaquePointer?>

  /// Prepares calls with this many arguments, all nil at first.
  public init(_ function: LuaFunction, parameters: Int) {
    reference = function.reference
    index = reference.index
    count = parameters
    buffer = LuaArgumentBuffer(capacity: parameters)
    values = buffer.values
    words = UnsafeMutableRawPointer(buffer.values)
    assert(MemoryLayout<MBLValue>.stride == 24 && MemoryLayout<MBLValue>.offset(of: \.tag) == 16)
    assert(MBLTag.integer.rawValue == 2 && MBLTag.number.rawValue == 3)
    holdsMore = buffer.holdsMore
    home = reference.link.home
    for index in 0..<parameters { buffer.setNil(index) }
  }

  /// Sets an argument (from 0) to nil.
  public func setNil(_ index: Int) { buffer.setNil(checked(index)) }

  /// Sets an argument (from 0).
  public func set(_ index: Int, boolean: Bool) { buffer.setBoolean(checked(index), boolean) }

  /// Sets an argument (from 0).
  @inlinable
  public func set(_ index: Int, integer: Int64) {
    let place = words + checked(index) * 24
    place.storeBytes(of: integer, as: Int64.self)
    place.storeBytes(of: 2, toByteOffset: 16, as: UInt32.self)
  }

  /// Sets an argument (from 0).
  @inlinable
  public func set(_ index: Int, number: Double) {
    let place = words + checked(index) * 24
    place.storeBytes(of: number, as: Double.self)
    place.storeBytes(of: 3, toByteOffset: 16, as: UInt32.self)
  }

  /// Sets an argument (from 0); the bytes are copied.
  public func set(_ index: Int, string: String) {
    var string = string
    string.withUTF8 { buffer.setBytes(checked(index), UnsafeRawBufferPointer($0)) }
  }

  /// Sets an argument (from 0); the bytes are copied.
  public func set(_ index: Int, bytes: UnsafeRawBufferPointer) { buffer.setBytes(checked(index), bytes) }

  /// Sets an argument (from 0) to a host object; with `scoped` its handle dies with the innermost scope.
  public func set(
    _ index: Int, object: AnyObject, as type: LuaAnyHostType, scoped: Bool = false
  ) throws(LuaError) {
    try buffer.setObject(checked(index), object, type, scoped: scoped, for: reference.state)
  }

  /// Sets an argument (from 0) to any value.
  public func set(_ index: Int, _ value: LuaValue) throws(LuaError) {
    try buffer.set(checked(index), value, for: reference.state)
  }

  @inlinable
  func checked(_ index: Int) -> Int {
    precondition(index >= 0 && index < count, "there is no such argument")
    return index
  }

  /// Calls the function; `body` reads the one result, which lives as long as the call.
  @inlinable
  public func run<Result>(_ body: (borrowing LuaResult) throws -> Result) throws -> Result {
    let result = try begin()
    defer { if result.top >= 0 { end(result) } }
    return try body(result)
  }

  @usableFromInline
  func begin() throws(LuaError) -> LuaResult {
    guard let raw = home.pointee, !holdsMore.pointee else { return try beginSlowly() }
    let plain = mbl_fast_call(raw, index, values, Int32(truncatingIfNeeded: count))
    if plain.status == 0 { return LuaResult(plain, of: .passUnretained(self)) }
    return try beginAfter(plain)
  }

  @inline(never)  // keeps its frame out of the quick call's
  private func beginAfter(_ plain: MBLFastResult) throws(LuaError) -> LuaResult {
    if plain.status == MBLStatus.idle.rawValue { return try beginSlowly() }
    throw failure(MBLStatus(rawValue: Int32(plain.status)) ?? .runtime, LuaResult(plain, of: .passUnretained(self)))
  }

  /// The call of more than scalars, and the one that is a run of its own.
  @inline(never)  // keeps its frame out of the quick call's
  private func beginSlowly() throws(LuaError) -> LuaResult {
    let state = try reference.state
    let raw = state.raw
    // Within a run whoever began it keeps the state; else nobody else may.
    let holder = mbl_is_running(raw) ? nil : Unmanaged.passRetained(state)
    if holder != nil { mbl_begin(raw) }
    let top = mbl_top(raw)
    buffer.seal(count)
    var plain = MBLValue()
    let status = mbl_call_one(raw, index, values, Int32(truncatingIfNeeded: count), &plain)
    buffer.clear()
    let result = LuaResult(plain, of: .passUnretained(self), top: top, holder: holder)
    guard status == .OK else { throw failure(status, result) }
    return result
  }

  private func failure(_ status: MBLStatus, _ result: borrowing LuaResult) -> LuaError {
    defer { end(result) }
    guard let state = reference.link.state else { return LuaError(.closed, "the Lua state is closed") }
    return state.takeError(status)
  }

  @usableFromInline
  func end(_ result: borrowing LuaResult) {
    if let raw = home.pointee {
      mbl_set_top(raw, result.top)
      if result.holder != nil { mbl_end(raw) }
    }
    result.holder?.release()
  }

  /// The state, while a result is read.
  fileprivate var state: LuaState { get throws(LuaError) { try reference.state } }

  /// Calls the function; its one result.
  public func value() throws(LuaError) -> LuaValue {
    do {
      return try run { (result: borrowing LuaResult) in try result.value }
    } catch {
      throw LuaError(wrapping: error)
    }
  }
}

/// The result of a fast call, read in place.
public struct LuaResult: ~Copyable {
  // A plain value in parts, so that callers read numbers without a call, and few enough to come back in registers.
  @usableFromInline let word: Int64
  @usableFromInline let tag: UInt32
  /// The height of the stack below a result that lies on it; less than 0 if none does.
  @usableFromInline let top: Int32
  /// The call, which outlives its result.
  private let call: Unmanaged<LuaFastCall>
  /// Kept by a call that is a run of its own.
  fileprivate let holder: Unmanaged<LuaState>?

  fileprivate init(_ plain: MBLFastResult, of call: Unmanaged<LuaFastCall>) {
    word = plain.word
    tag = UInt32(plain.tag)
    top = plain.top
    self.call = call
    holder = nil
  }

  fileprivate init(_ plain: MBLValue, of call: Unmanaged<LuaFastCall>, top: Int32, holder: Unmanaged<LuaState>?) {
    word = plain.integer
    tag = plain.tag.rawValue
    self.top = top
    self.call = call
    self.holder = holder
  }

  /// The whole of it, with what a string or an object has besides.
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

  /// Whether it is nil.
  @inlinable public var isNil: Bool { tag == 0 }

  /// The boolean.
  @inlinable public var boolean: Bool? { tag == 1 ? word != 0 : nil }

  /// The integer; a float, even an integral one, is none.
  @inlinable public var integer: Int64? { tag == 2 ? word : nil }

  /// The number, also of an integer.
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

  /// Calls `body` with the bytes of a string; nil if it is none.
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
}
