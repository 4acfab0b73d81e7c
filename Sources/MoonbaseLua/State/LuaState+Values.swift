import MoonbaseLuaShim

/// Values between C and Swift.
extension LuaState {
  /// The value of a plain value. A table or function on the stack is retained by a reference. Throws `.runtime` for a
  /// handle whose scope has ended, and `.memory`.
  func value(_ plain: MBLValue) throws(LuaError) -> LuaValue {
    switch plain.tag {
    case .nil: return .nil
    case .null: return .null
    case .boolean: return .boolean(plain.integer != 0)
    case .integer: return .integer(plain.integer)
    case .number: return .number(plain.number)
    case .string: return .string(string(plain))
    case .object:
      guard let pointer = plain.pointer else {
        throw LuaError(.runtime, message: "an object was used outside of its callback")
      }
      return .object(
        LuaObject(
          Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(), as: LuaAnyHostType.of(plain.length)))
    case .inline:
      let type = LuaAnyHostType.of(plain.length)
      guard let pointer = plain.pointer else {
        throw LuaError(.runtime, message: "\(type.name.withArticle) has no value")
      }
      return .object(LuaObject(type.object(at: pointer), as: type))
    case .table: return .table(LuaTable(reference: try reference(plain)))
    case .function: return .function(LuaFunction(reference: try reference(plain)))
    case .thread: return .thread(LuaThread(reference: try reference(plain)))
    case .userdata, .reference: return .userdata(LuaUserdata(reference: try reference(plain)))
    }
  }

  /// A copy of the bytes.
  func string(_ plain: MBLValue) -> LuaString {
    LuaString(bytes: UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
  }

  /// Keeps the value at a place of the stack.
  private func reference(_ plain: MBLValue) throws(LuaError) -> LuaReference {
    var index: Int32 = 0
    try check(mbl_reference(raw, Int32(plain.integer), &index))
    return LuaReference(link: link, index: index)
  }

  /// Removes values from the top of the stack.
  func pop(_ count: Int32 = 1) { mbl_set_top(raw, -count - 1) }

  /// Pops the value on the top after a successful operation and retains it. Throws the error of a failed operation.
  func keep(_ status: MBLStatus) throws(LuaError) -> LuaReference {
    guard status == .OK else { throw popError(status) }
    defer { pop() }
    var index: Int32 = 0
    try check(mbl_reference(raw, -1, &index))
    return LuaReference(link: link, index: index)
  }

  /// Retains the value on the top without popping it.
  func keepTop() throws(LuaError) -> LuaReference {
    var index: Int32 = 0
    try check(mbl_reference(raw, -1, &index))
    return LuaReference(link: link, index: index)
  }

  /// Pops the value on the top.
  func popTop() throws(LuaError) -> LuaValue {
    defer { pop() }
    var plain = MBLValue()
    mbl_get(mbl_thread(raw), -1, &plain)
    return try value(plain)
  }

  /// Runs `call` with arguments as plain values and returns the values that it left on the stack. Begins a run. Throws
  /// the error of the call.
  func invoke(
    _ arguments: [LuaValue],
    _ call: (OpaquePointer, UnsafePointer<MBLValue>, Int32) -> MBLStatus
  ) throws(LuaError) -> [LuaValue] {
    let buffer = acquireBuffer(arguments.count)
    defer { giveBack(buffer) }
    for index in arguments.indices { try buffer.set(index, to: arguments[index], for: self) }
    buffer.seal(arguments.count)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    let top = mbl_top(raw)
    let status = call(raw, buffer.values, Int32(arguments.count))
    guard status == .OK else { throw popError(status) }
    defer { mbl_set_top(raw, top) }
    var results: [LuaValue] = []
    let count = mbl_top(raw) - top
    results.reserveCapacity(Int(count))
    for place in 0..<count {
      var plain = MBLValue()
      mbl_get(mbl_thread(raw), top + 1 + place, &plain)
      results.append(try value(plain))
    }
    return results
  }

  /// Whether a value may be passed to this state. Scalars belong to every state.
  func owns(_ value: LuaValue) -> Bool {
    switch value {
    case .table(let table): table.reference.link === link
    case .function(let function): function.reference.link === link
    case .userdata(let userdata): userdata.reference.link === link
    case .thread(let thread): thread.reference.link === link
    case .object(let object): object.type.link === link
    default: true
    }
  }

  /// Whether both references are the same value in Lua, by raw equality.
  static func isSame(_ first: LuaReference, _ second: LuaReference) -> Bool {
    guard first.link === second.link, let state = first.link.state else { return false }
    guard mbl_push_reference(state.raw, first.index) else { return false }
    defer { state.pop() }
    guard mbl_push_reference(state.raw, second.index) else { return false }
    defer { state.pop() }
    return mbl_raw_equal(state.raw, -1, -2)
  }
}
