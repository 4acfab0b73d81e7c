import MoonbaseLuaShim

/// Making and reading tables.
extension LuaState {
  /// Creates an empty table with room for elements and fields. Throws `.memory`.
  public func table(elements: Int = 0, fields: Int = 0) throws(LuaError) -> LuaTable {
    LuaTable(
      reference: try keep(mbl_table_new(raw, Int32(clamping: max(elements, 0)), Int32(clamping: max(fields, 0)))))
  }

  /// Creates a table with these fields.
  ///
  /// ```swift
  /// try state.setGlobal("settings", to: .table(state.table(["depth": 3, "name": "Scarlet"])))
  /// ```
  /// Fields with nil values are left out.
  public func table(_ fields: [String: LuaValue]) throws(LuaError) -> LuaTable {
    let table = try table(fields: fields.count)
    for (key, value) in fields { try table.set(key, to: value) }
    return table
  }

  /// Creates a list, which remains a list when empty.
  public func list(_ elements: [LuaValue]) throws(LuaError) -> LuaTable {
    let table = try table(elements: elements.count)
    for (index, value) in elements.enumerated() { try table.set(index + 1, to: value) }
    try table.markAsList()
    return table
  }

  /// With `raw` no metamethod is called. Throws errors of metamethods, and `.foreign` for a key of another state.
  func tableGet(_ table: LuaReference, key: LuaValue, raw isRaw: Bool) throws(LuaError) -> LuaValue {
    let buffer = acquireBuffer(1)
    defer { giveBack(buffer) }
    try buffer.set(0, to: key, for: self)
    buffer.seal(1)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    let status = mbl_table_get(raw, table.index, buffer.values, isRaw)
    guard status == .OK else { throw popError(status) }
    return try popTop()
  }

  /// Throws errors of metamethods, and an error for a frozen table or a nil key.
  func tableSet(
    _ table: LuaReference, key: LuaValue, to value: LuaValue, raw isRaw: Bool
  ) throws(LuaError) {
    let buffer = acquireBuffer(2)
    defer { giveBack(buffer) }
    try buffer.set(0, to: key, for: self)
    try buffer.set(1, to: value, for: self)
    buffer.seal(2)
    mbl_begin(raw)
    defer { mbl_end(raw) }
    let status = mbl_table_set(raw, table.index, buffer.values, buffer.values + 1, isRaw)
    guard status == .OK else { throw popError(status) }
  }

  /// In no particular order. The table must not get new keys meanwhile. Throws the errors of `body`.
  func tableForEach(_ table: LuaReference, _ body: (LuaValue, LuaValue) throws -> Void) throws {
    let top = mbl_top(raw)
    defer { mbl_set_top(raw, top) }
    var none = MBLValue()
    try check(mbl_push(raw, &none))
    var ok = true
    while mbl_table_next(raw, table.index, &ok) {
      var plain = MBLValue()
      mbl_get(mbl_thread(raw), top + 1, &plain)
      let key = try value(plain)
      mbl_get(mbl_thread(raw), top + 2, &plain)
      let value = try value(plain)
      try body(key, value)
      mbl_set_top(raw, top + 1)
    }
    if !ok { throw popError(.runtime) }
  }

  /// Visits a table on the stack as `tableForEach` does, with keys as slots of the type and several entries per step.
  /// Keys that are properties of the type come as their slots, others as values.
  func tableForEachSlot(
    _ table: Int32, of type: OpaquePointer, _ body: (LuaTable.Entry, borrowing LuaElement) throws -> Void
  ) throws {
    let top = mbl_top(raw)
    defer { mbl_set_top(raw, top) }
    var none = MBLValue()
    try check(mbl_push(raw, &none))
    try withUnsafeTemporaryAllocation(of: Int32.self, capacity: 16) { slots in
      guard let start = slots.baseAddress else { return }
      var plain = MBLValue()
      repeat {
        mbl_set_top(raw, top + 1)  // the key
        var count: Int32 = 0
        let status = mbl_table_slots(raw, table, type, start, Int32(slots.count), &count)
        guard status == .OK else { throw popError(status) }
        for index in 0..<count {
          let slot = slots[Int(index)]
          // Only the last entry is identified by its key instead of a slot.
          if slot < 0 { mbl_get(mbl_thread(raw), top + 1, &plain) }
          let key = slot < 0 ? LuaTable.Entry.other(try value(plain)) : .slot(Int(slot))
          mbl_get(mbl_thread(raw), top + 2 + index, &plain)
          try body(key, LuaElement(plain: plain, state: self))
        }
        mbl_get(mbl_thread(raw), top + 1, &plain)
      } while plain.tag != .nil
    }
  }
}
