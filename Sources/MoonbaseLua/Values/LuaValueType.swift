import MoonbaseLuaShim

/// Describes values, such as dates and identifiers, to a state: their properties, methods and operators.
///
/// A value of at most 24 bytes without references is stored in Lua's own memory, and any other value in a `LuaBox`.
/// As a `LuaValue`, Swift sees either as a `LuaBox`.
///
/// ```swift
/// let date = LuaValueType<Date>("date")
/// date.property("unix") { date, call in call.return(date.timeIntervalSince1970) }
/// try state.register(date)
/// try state.setGlobal("epoch", to: date.value(Date(timeIntervalSince1970: 0)))
/// ```
public final class LuaValueType<Value>: LuaAnyHostType {
  // Untyped closures, because an array of closures over `Value` would need a type lookup at each use.
  @exclusivity(unchecked) private var getters: [(UnsafeMutableRawPointer, inout LuaCall) throws -> Void] = []

  /// Creates a type of values.
  public init(_ name: String) {
    let greatestSize = MemoryLayout<UInt64>.size * Int(MBL_INLINE_WORDS)
    super.init(name, isInline: _isPOD(Value.self) && (1...greatestSize).contains(MemoryLayout<Value>.size))
  }

  /// Adds a read-only property.
  public func property(_ name: String, get: @escaping (Value, inout LuaCall) throws -> Void) {
    slots.append(name)
    getters.append { [isInline] address, call in try get(Self.value(at: address, isInline: isInline), &call) }
  }

  /// Adds a method. The value is not among the arguments of the call. More than `greatestCount` arguments are errors,
  /// unless they are nil.
  public func method(
    _ name: String, upTo greatestCount: Int = .max, _ body: @escaping (Value, inout LuaCall) throws -> Void
  ) {
    methods[name] = LuaMethod(name, of: self.name, upTo: greatestCount, body) { [unowned self] call in
      call.valueIfPresent(0, of: self)
    }
  }

  /// Sets a function that returns the bytes that a boxed value retains.
  public func weight(_ body: @escaping (Value) -> Int) {
    weigher = { [usualWeight] object in (object as? LuaBox<Value>).map { body($0.value) } ?? usualWeight }
  }

  /// The value as a Lua value.
  public func value(_ value: Value) -> LuaValue { .object(LuaObject(LuaBox(value), as: self)) }

  // MARK: From and to Lua

  override func makePlainType(_ owner: UnsafeMutableRawPointer, in state: LuaState) -> OpaquePointer? {
    guard isInline else { return super.makePlainType(owner, in: state) }
    return mbl_inline_type_new(state.raw, owner, name, Int32(MemoryLayout<Value>.size))
  }

  /// The value at an address in Lua.
  @inline(__always)
  func value(at address: UnsafeRawPointer) -> Value { Self.value(at: address, isInline: isInline) }

  /// A copy of an inline value, or the value in a box.
  @inline(__always)
  private static func value(at address: UnsafeRawPointer, isInline: Bool) -> Value {
    isInline
      ? address.assumingMemoryBound(to: Value.self).pointee
      : Unmanaged<LuaBox<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.value }
  }

  override func object(at address: UnsafeRawPointer) -> AnyObject {
    isInline ? LuaBox(value(at: address)) : super.object(at: address)
  }

  override func withInlineBytes(of object: AnyObject, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
    guard isInline, let box = object as? LuaBox<Value> else { return false }
    withUnsafeBytes(of: box.value, body)
    return true
  }

  override func get(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    LuaCall.answer(frame, offset: 2) { call in try getters[slot](address, &call) }
  }

  override func set(_ address: UnsafeMutableRawPointer, slot: Int, frame: UnsafeMutablePointer<MBLFrame>) -> Int32 {
    LuaCall.answer(frame, offset: 2) { _ in throw readOnly(slot) }
  }
}

extension LuaCall {
  /// Reads a value of a type; nil for other arguments.
  public func valueIfPresent<Value>(_ index: Int, of type: LuaValueType<Value>) -> Value? {
    let plain = plain(index)
    guard plain.tag == .inline || plain.tag == .object, let pointer = plain.pointer,
      plain.length == UInt64(UInt(bitPattern: type.plainType))
    else { return nil }
    return type.value(at: pointer)
  }

  /// Reads a value of a type.
  public func value<Value>(_ index: Int, of type: LuaValueType<Value>) throws -> Value {
    if let value = valueIfPresent(index, of: type) { return value }
    throw typeError(index, expected: type.name)
  }

  /// Returns a value.
  @inlinable
  public mutating func `return`<Value>(_ value: Value, as type: LuaValueType<Value>) throws(LuaError) {
    let isReturned = withUnsafeBytes(of: value) { returnInline($0, as: type) }
    if !isReturned { try `return`(type.value(value)) }
  }

  /// Returns the bytes of an inline value. Returns false, without a result, for boxed values and for calls that have
  /// results already.
  @usableFromInline
  mutating func returnInline(_ bytes: UnsafeRawBufferPointer, as type: LuaAnyHostType) -> Bool {
    guard type.isInline, !frame.pointee.hasResult, let plainType = type.plainType, let start = bytes.baseAddress else {
      return false
    }
    withUnsafeMutableBytes(of: &frame.pointee.words) { words in
      words.baseAddress?.copyMemory(from: start, byteCount: min(bytes.count, words.count))
    }
    frame.pointee.result.tag = .inline
    frame.pointee.result.length = UInt64(UInt(bitPattern: plainType))
    frame.pointee.hasResult = true
    return true
  }
}
