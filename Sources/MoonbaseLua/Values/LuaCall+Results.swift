import MoonbaseLuaShim

/// Results. Each call adds one result; the first is kept in the frame, so that a single result costs no call of C.
extension LuaCall {
  /// Returns nil.
  public mutating func returnNil() { give(.nil, word: 0) }

  /// Returns a boolean.
  public mutating func `return`(_ value: Bool) { give(.boolean, word: value ? 1 : 0) }

  /// Returns an integer.
  public mutating func `return`(_ value: Int64) { give(.integer, word: value) }

  /// Returns an integer.
  public mutating func `return`(_ value: Int) { `return`(Int64(value)) }

  /// Returns a number. Also for a number without a fraction.
  public mutating func `return`(_ value: Double) { give(.number, word: Int64(bitPattern: value.bitPattern)) }

  /// Returns a text. The bytes are copied by Lua.
  public mutating func `return`(_ value: String) {
    var value = value
    value.withUTF8 { giveBytes(UnsafeRawBufferPointer($0)) }
  }

  /// Returns a string of any bytes.
  public mutating func `return`(bytes: UnsafeRawBufferPointer) { giveBytes(bytes) }

  /// Returns a string of bytes that stay valid until the call has ended, because they belong to the call's object. The
  /// first result only; further ones are copied.
  package mutating func `return`(borrowed bytes: UnsafeRawBufferPointer) {
    if frame.pointee.hasResult { return giveBytes(bytes) }
    frame.pointee.result.tag = .string
    frame.pointee.result.pointer = bytes.baseAddress
    frame.pointee.result.length = UInt64(bytes.count)
    frame.pointee.result.extra = UInt32(MBL_BORROWED)
    frame.pointee.hasResult = true
  }

  /// Returns a host object. With `scoped` its handle ends with the innermost scope.
  public mutating func `return`(_ object: AnyObject, as type: LuaAnyHostType, scoped: Bool = false) throws(LuaError) {
    if type.isInline { return try `return`(.object(LuaObject(object, as: type))) }
    if let plainType = type.plainType(in: frame.pointee.state) {
      return give(type.plain(object, scoped: scoped, plainType: plainType))
    }
    give(try type.plain(object, scoped: scoped, in: state))
  }

  /// Returns any value. Throws `.foreign` for a value of another state, and `.memory`.
  public mutating func `return`(_ value: LuaValue) throws(LuaError) {
    let state = state
    let buffer = state.acquireBuffer(1)
    defer { state.giveBack(buffer) }
    try buffer.set(0, to: value, for: state)
    buffer.seal(1)
    mbl_frame_return(frame, buffer.values)
    // The value here holds the reference, so the result is pushed onto the stack immediately.
    if buffer.values[0].tag == .reference { _ = mbl_frame_flush(frame) }
  }

  /// Adds any plain value.
  private func give(_ plain: MBLValue) {
    withUnsafePointer(to: plain) { mbl_frame_return(frame, $0) }
  }

  /// Returns a scalar. The first result is stored in the frame.
  @inline(__always)
  private func give(_ tag: MBLTag, word: Int64) {
    guard !frame.pointee.hasResult else { return giveAnother(tag, word: word) }
    frame.pointee.result.tag = tag
    frame.pointee.result.integer = word
    frame.pointee.hasResult = true
  }

  // A separate function, because taking an address adds a stack check.
  /// For the second result and later ones.
  @inline(never)
  private func giveAnother(_ tag: MBLTag, word: Int64) {
    var plain = MBLValue()
    plain.tag = tag
    plain.integer = word
    give(plain)
  }

  /// Adds a string.
  private func giveBytes(_ bytes: UnsafeRawBufferPointer) {
    var plain = MBLValue()
    plain.tag = .string
    plain.pointer = bytes.baseAddress
    plain.length = UInt64(bytes.count)
    give(plain)
  }
}
