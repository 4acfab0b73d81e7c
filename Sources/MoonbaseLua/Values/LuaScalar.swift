import MoonbaseLuaShim

/// A value as it lies on Lua's stack, with no copy of it: bytes live as long as it lies there.
package enum LuaScalar {
  /// Nil, or the null that stands for it in lists.
  case none
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case bytes(UnsafeRawBufferPointer)
  /// A value of the host that lies in Lua.
  case inline(LuaInlineValue)
  /// A table, a function, an object: what takes a reference to keep.
  case other

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

/// A value of the host that lies in Lua, as long as it lies there.
package struct LuaInlineValue {
  let plain: MBLValue

  /// The value, if it is of the type.
  package func value<Value>(of type: LuaValueType<Value>) -> Value? {
    guard type.isInline, plain.length == UInt64(UInt(bitPattern: type.plainType)), let pointer = plain.pointer else {
      return nil
    }
    return type.value(at: pointer)
  }
}

extension LuaCall {
  /// An argument as it lies on the stack, as long as the call lasts.
  package func scalar(_ index: Int) -> LuaScalar { LuaScalar(plain(index)) }

  /// Whether an argument is a table.
  package func isTable(_ index: Int) -> Bool { plain(index).tag == .table }

  /// Visits a table that is an argument, as `LuaTable.forEach(of:)` does, without a reference to it.
  package func forEach(
    of index: Int, as type: LuaAnyHostType, _ body: (LuaTable.Entry, borrowing LuaElement) throws -> Void
  ) throws {
    let state = state
    try state.tableForEachSlot(place(index), of: type.registered(in: state), body)
  }
}

/// A value of a table, as long as it is visited.
package struct LuaElement: ~Copyable {
  let plain: MBLValue
  // Who visits a table keeps its state.
  unowned(unsafe) let state: LuaState

  /// The value as it lies on the stack.
  package var scalar: LuaScalar { LuaScalar(plain) }
  /// The value, to be kept.
  package var value: LuaValue { get throws(LuaError) { try state.value(plain) } }
}
