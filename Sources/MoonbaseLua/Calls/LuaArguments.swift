/// Sets the arguments of a fast call. Arguments that are not set are nil.
///
/// ```swift
/// let length = try call.run {
///   $0.set(0, number: 1.5)
///   $0.set(1, string: "cm")
/// } reading: { $0.text }
/// ```
///
/// Passed to the closure of `LuaFastCall.run`, and valid only within it. Indexes are those of the Lua function's
/// parameters, from 0.
public struct LuaArguments: ~Copyable {
  /// The values of the call's buffer, 24 bytes each.
  @usableFromInline let words: UnsafeMutableRawPointer
  /// The number of parameters.
  @usableFromInline let count: Int
  /// The call, which outlives the setting of its arguments.
  @usableFromInline let call: Unmanaged<LuaFastCall>

  /// The parts that inlined code reads are copied from the call.
  @inlinable
  init(_ call: LuaFastCall) {
    words = call.words
    count = call.count
    self.call = .passUnretained(call)
  }

  /// For values that are not written directly.
  private var buffer: LuaArgumentBuffer { call.takeUnretainedValue().buffer }

  /// Sets an argument (from 0) to nil.
  public func setNil(_ index: Int) { buffer.setNil(checked(index)) }

  /// Sets an argument (from 0).
  public func set(_ index: Int, boolean: Bool) { buffer.setBoolean(checked(index), to: boolean) }

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
    string.withUTF8 { buffer.setBytes(checked(index), to: UnsafeRawBufferPointer($0)) }
  }

  /// Sets an argument (from 0); the bytes are copied.
  public func set(_ index: Int, bytes: UnsafeRawBufferPointer) { buffer.setBytes(checked(index), to: bytes) }

  /// Sets an argument (from 0) to bytes that stay valid until the call has ended, without copying them.
  @inlinable
  package func set(_ index: Int, borrowedBytes bytes: UnsafeRawBufferPointer) {
    let place = words + checked(index) * 24
    place.storeBytes(of: bytes.baseAddress, as: UnsafeRawPointer?.self)
    place.storeBytes(of: bytes.count, toByteOffset: 8, as: Int.self)
    place.storeBytes(of: 4, toByteOffset: 16, as: UInt32.self)
    place.storeBytes(of: 1, toByteOffset: 20, as: UInt32.self)
  }

  /// Sets an argument (from 0) to a host object; with `scoped` its handle dies with the innermost scope.
  public func set(
    _ index: Int, object: AnyObject, as type: LuaAnyHostType, scoped: Bool = false
  ) throws(LuaError) {
    try buffer.setObject(
      checked(index), to: object, type: type, scoped: scoped, for: call.takeUnretainedValue().state)
  }

  /// Sets an argument (from 0) to a value of a type that scripts know.
  public func set<Value>(_ index: Int, _ value: Value, as type: LuaValueType<Value>) throws(LuaError) {
    guard type.isInline else { return try set(index, to: type.value(value)) }
    let plainType = try type.registered(in: call.takeUnretainedValue().state)
    withUnsafeBytes(of: value) { buffer.setInline(checked(index), to: $0, of: plainType) }
  }

  /// Sets an argument (from 0) to any value.
  public func set(_ index: Int, to value: LuaValue) throws(LuaError) {
    try buffer.set(checked(index), to: value, for: call.takeUnretainedValue().state)
  }

  /// Traps for an index beyond the parameters of the call.
  @inlinable
  func checked(_ index: Int) -> Int {
    precondition(index >= 0 && index < count, "there is no such argument")
    return index
  }
}
