import MoonbaseLuaShim

/// No recursion is used, so the depth of a value is limited by the options, not by the stack.
extension LuaState {
  /// Limits for converting Lua values to trees, with a conversion for host objects.
  ///
  /// ```swift
  /// var options = LuaState.TreeOptions()
  /// options.object = { object in .text("\(object.object)") }
  /// let tree = try state.tree(of: value, options: options)
  /// ```
  public struct TreeOptions {
    /// The deepest nesting of tables.
    public var depth = 64
    /// The most values.
    public var count = 1_000_000
    /// Converts a host object; nil makes host objects errors.
    public var object: ((LuaObject) throws -> LuaTree)?

    /// Allows 64 levels, a million values and no host objects.
    public init() {}
  }

  /// A table whose entries are being converted.
  private struct Level {
    /// The entries, sorted for a list.
    let pairs: [(key: LuaValue, value: LuaValue)]
    /// The identity of the table, for finding cycles.
    let pointer: UnsafeRawPointer?
    /// Whether the result is a list.
    let isList: Bool
    /// The index of the next entry.
    var next = 0
    /// The elements so far.
    var list: [LuaTree] = []
    /// The entries so far.
    var map: [LuaString: LuaTree] = [:]
  }

  /// Converts a value to plain data. No script runs: tables are read raw.
  ///
  /// Throws `.conversion`, with the path, for functions, cycles, keys that are neither strings nor integers, and for
  /// more levels or values than the options allow. A table with the keys 1 to n, in any order, is a list; an empty
  /// table is a map unless it is marked as a list.
  public func tree(of value: LuaValue, options: TreeOptions = TreeOptions()) throws -> LuaTree {
    var levels: [Level] = []
    var pending: LuaValue? = value
    var finished = LuaTree.null
    var left = options.count
    while true {
      if let value = pending {
        pending = nil
        left -= 1
        guard left > 0 else { throw refuse("too many values", at: levels) }
        if case .table(let table) = value {
          guard levels.count < options.depth else { throw refuse("tables nest too deeply", at: levels) }
          levels.append(try level(table, at: levels))
        } else {
          finished = try leaf(value, options: options, at: levels)
          if levels.isEmpty { return finished }
          add(finished, to: &levels)
        }
      }
      while var level = levels.last, level.next == level.pairs.count {
        finished = level.isList ? .list(level.list) : .map(level.map)
        level.list = []
        levels.removeLast()
        if levels.isEmpty { return finished }
        add(finished, to: &levels)
      }
      let top = levels.count - 1
      pending = levels[top].pairs[levels[top].next].value
    }
  }

  /// Appends a converted value to the innermost table.
  private func add(_ tree: LuaTree, to levels: inout [Level]) {
    let top = levels.count - 1
    if levels[top].isList {
      levels[top].list.append(tree)
    } else {
      levels[top].map[Self.key(levels[top].pairs[levels[top].next].key)] = tree
    }
    levels[top].next += 1
  }

  /// The key in the tree; integers become texts.
  private static func key(_ key: LuaValue) -> LuaString {
    switch key {
    case .string(let string): string
    case .integer(let integer): LuaString(String(integer))
    default: ""
    }
  }

  /// Reads all entries of a table. Throws for a table that contains itself, and for keys of other types.
  private func level(_ table: LuaTable, at levels: [Level]) throws -> Level {
    let pointer = pointer(of: table)
    if levels.contains(where: { $0.pointer == pointer }) { throw refuse("a table contains itself", at: levels) }
    var pairs = try table.pairs
    let count = pairs.count
    let isList =
      count == 0
      ? try table.isMarkedList
      : pairs.allSatisfy { if case .integer(let index) = $0.key { index >= 1 && index <= count } else { false } }
    if isList {
      pairs.sort { ($0.key.integerValue ?? 0) < ($1.key.integerValue ?? 0) }
    } else {
      for (key, _) in pairs {
        switch key {
        case .string, .integer: continue
        default: throw refuse("a key is \(key.typePhrase); only strings and integers convert", at: levels)
        }
      }
    }
    return Level(pairs: pairs, pointer: pointer, isList: isList)
  }

  /// The address of a table in Lua, for comparison only.
  private func pointer(of table: LuaTable) -> UnsafeRawPointer? {
    guard mbl_push_reference(raw, table.reference.index) else { return nil }
    defer { pop() }
    return mbl_pointer(mbl_thread(raw), -1)
  }

  /// Converts anything except tables.
  private func leaf(_ value: LuaValue, options: TreeOptions, at levels: [Level]) throws -> LuaTree {
    switch value {
    case .nil, .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .integer(let integer): return .integer(integer)
    case .number(let number): return .number(number)
    case .string(let string): return .string(string)
    case .object(let object):
      if let convert = options.object { return try convert(object) }
      fallthrough
    default: throw refuse("\(value.typePhrase) does not convert", at: levels)
    }
  }

  /// The error names the path of the value, such as `a.b.3`.
  private func refuse(_ problem: String, at levels: [Level]) -> LuaError {
    LuaTreeEncoder.refuse(
      problem,
      at: levels.filter { $0.next < $0.pairs.count }.map { Self.key($0.pairs[$0.next].key).description })
  }

  /// Creates the Lua value of plain data. Lists are marked as lists. Throws `.memory`.
  public func value(of tree: LuaTree) throws(LuaError) -> LuaValue {
    guard let (root, rest) = try node(tree) else { return try leaf(tree) }
    var work = [(root, rest)]
    while let (table, children) = work.popLast() {
      for (key, child) in children {
        if let (inner, grandchildren) = try node(child) {
          try table.set(key, to: .table(inner))
          work.append((inner, grandchildren))
        } else {
          try table.set(key, to: try leaf(child))
        }
      }
    }
    return .table(root)
  }

  /// A new table with the children that it will get; nil for a leaf.
  private func node(_ tree: LuaTree) throws(LuaError) -> (LuaTable, [(LuaValue, LuaTree)])? {
    switch tree {
    case .list(let list):
      let table = try table(elements: list.count)
      try table.markAsList()
      return (table, list.enumerated().map { (.integer(Int64($0.offset + 1)), $0.element) })
    case .map(let map):
      return (try table(fields: map.count), map.map { (.string($0.key), $0.value) })
    default: return nil
    }
  }

  /// A value that is no table.
  private func leaf(_ tree: LuaTree) throws(LuaError) -> LuaValue {
    switch tree {
    case .boolean(let flag): .boolean(flag)
    case .integer(let integer): .integer(integer)
    case .number(let number): .number(number)
    case .string(let string): .string(string)
    default: .null
    }
  }
}
