import MoonbaseLua
import MoonbasePlatform

/// API calls in an order that bytes determine; no order may crash.
///
/// Uses several states and their values. Values outlive their states, are passed to other states, and are released on
/// other threads.
final class LuaHostProgram {
  static let mark: UInt8 = 1

  final class Thing {
    var value: LuaValue = .nil
  }

  struct Refusal: Error {}

  private var bytes: ArraySlice<UInt8>
  private var states: [LuaState] = []
  private var values: [LuaValue] = [.nil, .null, .integer(.min), .number(.nan), .text(""), .boolean(true)]
  private var types: [LuaHostType<Thing>] = []
  private var threads: [LuaThread] = []
  private var depth = 0

  /// Only the beginning is run, so that an input takes a moment.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes.prefix(1000) }

  func run() {
    makeState()
    while step() {}
    // Whether values or states are released first is part of the program.
    if next() % 2 == 0 { values = [] }
    states = []
    threads = []
  }

  // MARK: Choosing

  private func next() -> Int { Int(bytes.popFirst() ?? 0) }

  private var state: LuaState {
    if states.isEmpty { makeState() }
    return states[next() % states.count]
  }

  private var value: LuaValue { values[next() % values.count] }

  private func keep(_ value: LuaValue) {
    if values.count < 64 { values.append(value) } else { values[next() % 64] = value }
  }

  private func makeState() {
    let limits = LuaLimits(
      instructions: 20_000, memory: 1 << 20, outputSize: 4096, coroutines: 50, callDepth: next() % 2 == 0 ? nil : 500)
    guard let state = try? LuaState(preset: LuaPreset.allCases[next() % 4], limits: limits) else { return }
    state.output = .none
    let type = LuaHostType<Thing>("Thing", interned: next() % 2 == 0)
    type.properties(
      ["value"], get: { thing, _, call in try call.return(thing.value) },
      set: { thing, _, call in
        // A handle of the object's own state would be a reference cycle.
        if case .integer = try call.value(2) { thing.value = try call.value(2) }
      })
    type.method("call") { [weak self] _, call in try self?.callback(&call) }
    type.operator(.add) { [weak self] call in try self?.callback(&call) }
    type.operator(.text) { call in call.return("thing") }
    try? state.register(type)
    for name in ["host", "other"] {
      if let function = try? state.function({ [weak self] call in try self?.callback(&call) }) {
        try? state.setGlobal(name, to: function)
      }
    }
    state.modules.add(
      "module", source: LuaSource("local m = { n = 1 } function m.on_reload() host() end return m", name: "m"))
    types.append(type)
    states.append(state)
  }

  // MARK: Steps

  private func step() -> Bool {
    guard !bytes.isEmpty else { return false }
    switch next() % 22 {
    case 0: if states.count < 3 { makeState() }
    case 1: dropState()
    case 2, 3, 4: load()
    case 5, 6, 7: callFunction()
    case 8: useTable()
    case 9: iterate()
    case 10: makeThread()
    case 11: useThread()
    case 12: pushObject()
    case 13: if case .object(let object) = value { state.invalidate(object.object) }
    case 14: _ = try? state.reload(next() % 2 == 0 ? "module" : "nothing")
    case 15: convert()
    case 16: letGoElsewhere()
    case 17: state.failAllocation(after: next() % 3 == 0 ? nil : next(), times: 1 + next() % 4)
    case 18: fastCall()
    case 19: nested()
    case 20: state.interrupter.interrupt()
    default: change()
    }
    return true
  }

  private static let sources = [
    "return ...", "return function(...) return ... end", "return { 1, 2, x = 'y', z = { ... } }", "error(...)",
    "return coroutine.create(function(...) return coroutine.yield(...) end)", "return host(...)",
    "while true do host(...) end",
    "return pcall(host, ...)", "local x <close> = setmetatable({}, { __close = host }) error(...)",
    "return setmetatable({ ... }, { __index = host, __newindex = host, __len = host, __call = host, __tostring = host })",
    "return coroutine.wrap(function(...) host(...) error(coroutine.yield(...)) end)", "return require 'module'",
    "local a = ... return a.value, pcall(a.call, a), a + 1", "local a, b = ... a.value = b return tostring(a)",
    "return table.unpack({}, 1, 5000)", "return ('x'):rep(100000)", "return ('x'):gsub('.', host)", "os.exit(3)",
    "x = = 1",
    "for k, v in pairs((...)) do host(k, v) end", "table.sort({ 3, 1, 2 }, other)", "return load(host)",
    "local t = {} t[1] = t return t",
    "local function f(...) return f(...) end return f(...)", "return xpcall(host, other, ...)",
    "kept = ... return kept",
    "collectgarbage() return _G", "local function f() return 1 + f() end f()",
  ]

  private func load() {
    let source = Self.sources[next() % Self.sources.count]
    guard let function = try? state.load(source, name: "program") else { return }
    keep(.function(function))
  }

  private func callFunction() {
    guard case .function(let function) = value else { return }
    guard let results = try? function.call((0..<next() % 4).map { _ in value }) else { return }
    results.prefix(3).forEach(keep)
  }

  /// Runs the next operation of the program within a host function.
  private func callback(_ call: inout LuaCall) throws {
    depth += 1
    defer { depth -= 1 }
    guard depth < 20 else { throw Refusal() }
    switch next() % 10 {
    case 0: throw Refusal()
    case 1: throw LuaError(.runtime, message: "refused")
    case 2: _ = step()
    case 3: for _ in 0..<next() * 4 { try call.return(value) }
    case 4: for value in try call.values() { try call.return(value) }
    case 5: keep(try call.value(next() % 4))
    case 6: call.return(try call.integer(0))
    case 7: call.return(try call.text(1))
    case 8: _ = try call.function(0).call([])
    default: try call.return(value)
    }
  }

  private func dropState() {
    guard depth == 0, states.count > 1 else { return }
    let place = next() % states.count
    states.remove(at: place)
    types.remove(at: place)
  }

  private func useTable() {
    if next() % 4 == 0, let table = try? state.table(elements: next(), fields: next()) { keep(.table(table)) }
    guard case .table(let table) = value else { return }
    try? table.set(value, to: value)
    try? table.assign(value, to: value)
    if let found = try? table.get(value) { keep(found) }
    if let found = try? table.index(value) { keep(found) }
    if next() % 8 == 0, let frozen = try? table.frozen() { keep(.table(frozen)) }
    if next() % 8 == 0 { try? table.markAsList() }
    if case .table(let other) = value { try? table.setMetatable(other) }
  }

  private func iterate() {
    guard case .table(let table) = value else { return }
    var count = 0
    try? table.forEach { key, value in
      count += 1
      if count > 20 { throw Refusal() }
      if count % 7 == 0 { _ = step() }
      keep(value)
    }
    _ = try? table.elements
  }

  private func makeThread() {
    if case .thread(let thread) = value { threads.append(thread) }
    guard case .function(let function) = value, let thread = try? function.makeThread() else { return }
    threads.append(thread)
  }

  private func useThread() {
    guard !threads.isEmpty else { return }
    let thread = threads[next() % threads.count]
    switch next() % 4 {
    case 0: try? thread.close()
    case 1: _ = try? thread.status
    default: (try? thread.resume([value, value]))?.prefix(2).forEach(keep)
    }
  }

  private func pushObject() {
    guard !types.isEmpty else { return }
    keep(.object(LuaObject(Thing(), as: types[next() % types.count])))
  }

  private func convert() {
    let state = state
    guard let tree = try? state.tree(of: value) else { return }
    if let copy = try? state.value(of: tree) { keep(copy) }
    let _: [String: Int]? = try? tree.decoded()
    let _: [Double]? = try? tree.decoded()
  }

  /// Releases the last handle of a value on another thread, while the state is in use.
  private func letGoElsewhere() {
    guard case .table(let table) = value, values.count > 8 else { return }
    values.removeLast()
    nonisolated(unsafe) let handle = table  // handles may be released on any thread
    let thread = Thread { _ = handle }
    thread.start()
    _ = try? state.load("return {}", name: "meanwhile")()
  }

  private func fastCall() {
    guard case .function(let function) = value else { return }
    let call = LuaFastCall(function, parameters: 3)
    let state = state
    try? state.withScope {
      try call.run { arguments in
        arguments.set(0, integer: Int64(next()))
        try arguments.set(1, to: value)
        if next() % 4 == 0 {
          try call.run { _ in
          } reading: {
            keep(try $0.value)
          }
        }
        guard !types.isEmpty else { return }
        try arguments.set(2, object: Thing(), as: types[next() % types.count], scoped: next() % 2 == 0)
      } reading: { result in
        keep(try result.value)
        if next() % 4 == 0 { _ = step() }
      }
    }
  }

  private func nested() {
    let inner = state
    let outer = state
    guard depth < 10 else { return }
    depth += 1
    defer { depth -= 1 }
    outer.run { inner.run(onBehalfOf: outer) { for _ in 0..<next() % 4 { _ = step() } } }
  }

  private func change() {
    let state = state
    switch next() % 4 {
    case 0: state.collectGarbage()
    case 1: state.limits.instructions = next() % 2 == 0 ? nil : Int64(next() * 100)
    case 2: state.limits.memory = UInt64(next() + 1) << 12
    default: state.charge(Int64(next() * 100))
    }
    // Without a limit the run would never end.
    if state.limits.instructions == nil { state.limits.deadline = .seconds(0.01) }
  }
}
