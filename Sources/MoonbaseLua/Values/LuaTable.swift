import MoonbaseLuaShim
import MoonbasePlatform

/// Handle to a Lua table.
///
/// ```swift
/// let table = try state.table(["name": "Scarlet"])
/// try table.set("age", to: 42)
/// try table.get("age").integerValue                                // 42
/// for (key, value) in try table.pairs { print(key, value) }
/// ```
///
/// Access is raw: no metamethod runs, so reading a script's result runs no script code. `index` and `assign` are
/// exceptions.
public struct LuaTable {
  /// Keeps the table alive.
  let reference: LuaReference

  /// Reads the value for a key; `.nil` if there is none.
  public func get(_ key: LuaValue) throws(LuaError) -> LuaValue {
    try reference.state.tableGet(reference, key: key, raw: true)
  }

  /// Reads the value for a text key.
  public func get(_ key: String) throws(LuaError) -> LuaValue { try get(.text(key)) }

  /// Reads the element at a Lua index (from 1).
  public func get(_ index: Int) throws(LuaError) -> LuaValue { try get(.integer(Int64(index))) }

  /// Sets the value for a key; `.nil` removes the key.
  public func set(_ key: LuaValue, to value: LuaValue) throws(LuaError) {
    try reference.state.tableSet(reference, key: key, to: value, raw: true)
  }

  /// Sets the value for a text key.
  public func set(_ key: String, to value: LuaValue) throws(LuaError) { try set(.text(key), to: value) }

  /// Sets the element at a Lua index (from 1).
  public func set(_ index: Int, to value: LuaValue) throws(LuaError) { try set(.integer(Int64(index)), to: value) }

  /// Reads as `t[key]` does in Lua: metamethods run, within the limits.
  public func index(_ key: LuaValue) throws(LuaError) -> LuaValue {
    try reference.state.tableGet(reference, key: key, raw: false)
  }

  /// Sets as `t[key] = value` does in Lua: metamethods run, within the limits.
  public func assign(_ key: LuaValue, to value: LuaValue) throws(LuaError) {
    try reference.state.tableSet(reference, key: key, to: value, raw: false)
  }

  /// Lua's raw length, `#t`: the number of elements of a list, without other keys.
  public var count: Int {
    get throws(LuaError) { Int(mbl_table_length(try reference.state.raw, reference.index)) }
  }

  /// Calls `body` for every key and value, in unspecified order. `body` may set values of existing keys but must not
  /// add keys.
  public func forEach(_ body: (LuaValue, LuaValue) throws -> Void) throws {
    try reference.state.tableForEach(reference, body)
  }

  /// The meaning of a table's key for a host type.
  package enum Entry {
    /// A property, by its index in the names passed to `LuaHostType.properties`.
    case slot(Int)
    /// A key that is not a property, or a property hidden by a method.
    case other(LuaValue)
  }

  /// Calls `body` for every key and value as `forEach` does, with the keys as properties of `type`.
  package func forEach(of type: LuaAnyHostType, _ body: (Entry, borrowing LuaElement) throws -> Void) throws {
    let state = try reference.state
    guard mbl_push_reference(state.raw, reference.index) else { throw LuaError(.memory, message: "the stack is full") }
    defer { state.pop() }
    try state.tableForEachSlot(mbl_top(state.raw), of: type.registered(in: state), body)
  }

  /// All keys and values, in unspecified order.
  public var pairs: [(key: LuaValue, value: LuaValue)] {
    get throws(LuaError) {
      var all: [(key: LuaValue, value: LuaValue)] = []
      var memory = HostMemory()
      do {
        try forEach { key, value in
          try memory.hold(48 + key.weight + value.weight)
          all.append((key, value))
        }
      } catch {
        throw LuaError(wrapping: error)
      }
      return all
    }
  }

  /// The elements from 1 up to the first missing index, as with `ipairs`.
  public var elements: [LuaValue] {
    get throws(LuaError) {
      let state = try reference.state
      guard mbl_push_reference(state.raw, reference.index) else { return [] }
      defer { state.pop() }
      var all: [LuaValue] = []
      var memory = HostMemory()
      while mbl_push_element(state.raw, Int64(all.count + 1)) {
        all.append(try state.popTop())
        do {
          try memory.hold(24 + all[all.count - 1].weight)
        } catch {
          throw LuaError(wrapping: error)
        }
      }
      return all
    }
  }

  /// The number of all keys, including elements.
  package var size: Int {
    get throws(LuaError) {
      let state = try reference.state
      var size: UInt64 = 0
      try state.check(mbl_table_size(state.raw, reference.index, &size))
      return Int(size)
    }
  }

  /// Creates a read-only proxy of this table for scripts.
  ///
  /// ```swift
  /// try state.setGlobal("settings", to: .table(state.table(["depth": 3]).frozen()))
  /// ```
  public func frozen() throws(LuaError) -> LuaTable {
    let state = try reference.state
    return LuaTable(reference: try state.keep(mbl_table_freeze(state.raw, reference.index)))
  }

  /// Creates a read-only proxy of a plain list or map for scripts. A change raises the freezer's error. The host reads
  /// the proxy like the table.
  package func frozen(by freezer: LuaFreezer) throws(LuaError) -> LuaTable {
    let state = try reference.state
    return LuaTable(
      reference: try state.keep(mbl_value_freeze(state.raw, reference.index, freezer.metatable.reference.index)))
  }

  /// The table behind a proxy; the table itself if it is no proxy.
  package var behindProxy: LuaTable {
    get throws(LuaError) {
      let state = try reference.state
      guard mbl_push_reference(state.raw, reference.index) else { return self }
      defer { state.pop() }
      mbl_thaw_top(state.raw)
      return LuaTable(reference: try state.keepTop())
    }
  }

  /// Marks the table as a list, so that it remains a list when empty.
  public func markAsList() throws(LuaError) {
    let state = try reference.state
    try state.check(mbl_mark_list(state.raw, reference.index))
  }

  /// Whether the host marked the table as a list.
  public var isMarkedList: Bool {
    get throws(LuaError) {
      let state = try reference.state
      guard mbl_push_reference(state.raw, reference.index) else { return false }
      defer { state.pop() }
      return mbl_is_list(mbl_thread(state.raw), -1)
    }
  }

  /// The metatable, if any.
  public var metatable: LuaTable? {
    get throws(LuaError) {
      let state = try reference.state
      guard mbl_push_reference(state.raw, reference.index) else { return nil }
      defer { state.pop() }
      guard mbl_table_metatable(state.raw, -1) else { return nil }
      return LuaTable(reference: try state.keep(.OK))
    }
  }

  /// The address of the metatable, comparable with the `address` of a retained table; nil without a metatable.
  package var metatableAddress: UnsafeRawPointer? {
    get throws(LuaError) { mbl_metatable_address(try reference.state.raw, reference.index) }
  }

  /// The address of the table, unique while the table is retained.
  package var address: UnsafeRawPointer? {
    get throws(LuaError) { mbl_table_address(try reference.state.raw, reference.index) }
  }

  /// Sets the metatable; nil removes it. Throws for a metatable with `__gc`, except in preset `trusted`.
  public func setMetatable(_ metatable: LuaTable?) throws(LuaError) {
    let state = try reference.state
    let other = try metatable?.reference.index(in: state) ?? -1
    let status = mbl_table_set_metatable(state.raw, reference.index, other)
    guard status == .OK else { throw state.popError(status) }
  }

  /// Whether both handles refer to the same table.
  public func isSame(as other: LuaTable) -> Bool { LuaState.isSame(reference, other.reference) }
}
