import MoonbaseLuaShim

/// A value on Lua's stack, without a copy. Bytes are valid while it is on the stack.
package enum LuaScalar {
  /// Nil, or `moonbase.null`.
  case none
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case number(Double)
  /// The bytes of a string.
  case bytes(UnsafeRawBufferPointer)
  /// An inline value of the host.
  case inline(LuaInlineValue)
  /// A table, function or object, which needs a reference to be kept.
  case other

  /// Makes the scalar of a value in C.
  init(_ plain: MBLValue) {
    switch plain.tag {
    case .nil, .null: self = .none
    case .boolean: self = .boolean(plain.integer != 0)
    case .integer: self = .integer(plain.integer)
    case .number: self = .number(plain.number)
    case .string: self = .bytes(UnsafeRawBufferPointer(start: plain.pointer, count: Int(plain.length)))
    case .inline: self = .inline(LuaInlineValue(plain: plain))
    case .object, .table, .function, .userdata, .thread, .reference: self = .other
    }
  }
}

/// An inline value of the host, valid while it is on the stack.
package struct LuaInlineValue {
  /// The value in C.
  let plain: MBLValue

  /// The value, if it has this type; nil otherwise.
  package func value<Value>(of type: LuaValueType<Value>) -> Value? {
    guard type.isInline, plain.length == UInt64(UInt(bitPattern: type.plainType)), let pointer = plain.pointer else {
      return nil
    }
    return type.value(at: pointer)
  }
}

extension LuaCall {
  /// An argument on the stack, valid during the call.
  package func scalar(_ index: Int) -> LuaScalar { LuaScalar(plain(index)) }

  /// Whether an argument is a table.
  package func isTable(_ index: Int) -> Bool { plain(index).tag == .table }

  /// Visits a table argument as `LuaTable.forEach(of:)` does, without a reference to it.
  package func forEach(
    of index: Int, as type: LuaAnyHostType, _ body: (LuaTable.Entry, borrowing LuaElement) throws -> Void
  ) throws {
    let state = state
    try state.tableForEachSlot(place(index), of: type.registered(in: state), body)
  }
}

/// A value of a table, valid during the visit.
package struct LuaElement: ~Copyable {
  /// The value in C.
  let plain: MBLValue
  // The visitor of the table retains the state.
  unowned(unsafe) let state: LuaState

  /// The value on the stack.
  package var scalar: LuaScalar { LuaScalar(plain) }
  /// The value in a form that may be kept.
  package var value: LuaValue { get throws(LuaError) { try state.value(plain) } }
}
