import MoonbaseLuaShim

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
  private let buffer: LuaArgumentBuffer
  private let count: Int

  /// Prepares calls with this many arguments, all nil at first.
  public init(_ function: LuaFunction, parameters: Int) {
    reference = function.reference
    count = parameters
    buffer = LuaArgumentBuffer(capacity: parameters)
    for index in 0..<parameters { buffer.setNil(index) }
  }

  /// Sets an argument (from 0) to nil.
  public func setNil(_ index: Int) { buffer.setNil(checked(index)) }

  /// Sets an argument (from 0).
  public func set(_ index: Int, boolean: Bool) { buffer.setBoolean(checked(index), boolean) }

  /// Sets an argument (from 0).
  public func set(_ index: Int, integer: Int64) { buffer.setInteger(checked(index), integer) }

  /// Sets an argument (from 0).
  public func set(_ index: Int, number: Double) { buffer.setNumber(checked(index), number) }

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

  private func checked(_ index: Int) -> Int {
    precondition(index >= 0 && index < count, "argument \(index) of \(count)")
    return index
  }

  /// Calls the function; `body` reads the one result, which lives as long as the call.
  public func run<Result>(_ body: (borrowing LuaResult) throws -> Result) throws -> Result {
    let state = try reference.state
    buffer.seal(count)
    let raw = state.raw
    mbl_begin(raw)
    defer { mbl_end(raw) }
    let top = mbl_top(raw)
    var plain = MBLValue()
    let status = mbl_call_one(raw, reference.index, buffer.values, Int32(count), &plain)
    buffer.clear()
    guard status == .OK else { throw state.takeError(status) }
    defer { mbl_set_top(raw, top) }
    return try body(LuaResult(plain: plain, state: state))
  }

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
  let plain: MBLValue
  let state: LuaState

  /// Whether it is nil.
  public var isNil: Bool { plain.tag == .nil }

  /// The boolean.
  public var boolean: Bool? { plain.tag == .boolean ? plain.integer != 0 : nil }

  /// The integer; a float, even an integral one, is none.
  public var integer: Int64? { plain.tag == .integer ? plain.integer : nil }

  /// The number, also of an integer.
  public var number: Double? {
    switch plain.tag {
    case .number: plain.number
    case .integer: Double(plain.integer)
    default: nil
    }
  }

  /// The text, if it is a string of UTF-8.
  public var text: String? {
    withBytes {
      String(validating: UnsafeBufferPointer(rebasing: $0.assumingMemoryBound(to: UInt8.self)[...]), as: UTF8.self)
    }
      ?? nil
  }

  /// Calls `body` with the bytes of a string; nil if it is none.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
    guard plain.tag == .string else { return nil }
    return try body(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// The host object, if it is of this class.
  public func object<Object: AnyObject>(as type: Object.Type = Object.self) -> Object? {
    guard plain.tag == .object, let pointer = plain.pointer else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? Object
  }

  /// The result as a value that may be kept.
  public var value: LuaValue {
    get throws(LuaError) { try state.value(plain) }
  }
}
