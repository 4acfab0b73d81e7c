import MoonbaseLuaShim

/// Creates a list of tables with the same keys, sharing the key strings.
package struct LuaRows {
  /// The list.
  package let list: LuaTable
  /// The keys in the order of the values.
  private let keys: LuaTable
  /// Retained while rows are added.
  private let state: LuaState
  /// The number of rows.
  private var count: Int64 = 0

  /// Begins an empty list.
  init(_ keys: [String], in state: LuaState) throws(LuaError) {
    list = try state.list([])
    self.keys = try state.table(elements: keys.count)
    for (index, key) in keys.enumerated() { try self.keys.set(index + 1, to: .text(key)) }
    self.state = state
  }

  /// Adds a table with a value for each key. A key without a value is omitted.
  package mutating func append(_ values: [LuaValue]) throws(LuaError) {
    let buffer = state.acquireBuffer(values.count)
    defer { state.giveBack(buffer) }
    for (index, value) in values.enumerated() { try buffer.set(index, to: value, for: state) }
    buffer.seal(values.count)
    count += 1
    mbl_begin(state.raw)
    defer { mbl_end(state.raw) }
    let status = mbl_table_set_row(
      state.raw, list.reference.index, count, keys.reference.index, buffer.values, Int32(values.count))
    guard status == .OK else { throw state.popError(status) }
  }
}

extension LuaState {
  /// Begins a list of tables with these keys.
  package func rows(_ keys: [String]) throws(LuaError) -> LuaRows { try LuaRows(keys, in: self) }
}
