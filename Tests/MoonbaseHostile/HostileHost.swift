import MoonbaseLua
import MoonbasePlatform

/// Functions and objects of a host, for scripts to misuse.
enum HostileHost {
  final class Thing {
    let name = "a thing"
  }

  struct Refusal: Error, CustomStringConvertible {
    var description: String { "refused" }
  }

  static func open(_ state: LuaState) throws {
    try openFunctions(state)
    try openObjects(state)
  }

  private static func openFunctions(_ state: LuaState) throws {
    try state.setGlobal("fail", to: state.function { _ in throw Refusal() })
    try state.setGlobal("take", to: state.function { call in call.return(try call.values().count) })
    try state.setGlobal(
      "many",
      to: state.function { call in
        for number in 0..<min(max(0, try call.integer(0)), 1_100_000) { call.return(number) }
      })
    try state.setGlobal("nest", to: state.function { call in try call.function(0).call([call.value(0)]) })
    try state.setGlobal(
      "tree",
      to: state.function { call in
        let tree = try call.state.tree(of: call.value(0))
        try call.return(try call.state.value(of: tree))
      })
    try state.setGlobal("index", to: state.function { call in try call.return(call.table(0).index("key")) })
    try state.setGlobal("fresh", to: state.function { call in try fresh(&call) })
  }

  /// Runs a source in a new state, which has the same function.
  private static func fresh(_ call: inout LuaCall) throws {
    let source = try call.text(0)
    let inner = try LuaState(preset: call.state.preset, limits: call.state.limits)
    try inner.setGlobal("fresh", to: inner.function { call in try fresh(&call) })
    let argument = LuaValue.text(try call.text(1))
    try inner.run(onBehalfOf: call.state) { _ = try inner.load(source, name: "fresh.lua").call([argument]) }
  }

  private static func openObjects(_ state: LuaState) throws {
    let type = LuaHostType<Thing>("Thing")
    type.properties(["name"], get: { thing, _, call in call.return(thing.name) })
    type.method("twice") { _, call in
      let (result, overflow) = try call.integer(0).multipliedReportingOverflow(by: 2)
      guard !overflow else { throw call.argumentError(0, problem: "too large") }
      call.return(result)
    }
    type.missing { _, key, _, _ in throw LuaError(.runtime, message: "Thing has no '\(key)'") }
    try state.register(type)
    try state.setGlobal("object", to: .object(LuaObject(Thing(), as: type)))
    try state.setGlobal("make", to: state.function { [unowned type] call in try call.return(Thing(), as: type) })
    try state.setGlobal(
      "scoped",
      to: state.function { [unowned type] call in
        let state = call.state
        let function = LuaFastCall(try call.function(0), parameters: 1)
        try state.withScope {
          _ = try function.value { (arguments: borrowing LuaArguments) in
            try arguments.set(0, object: Thing(), as: type, scoped: true)
          }
        }
      })
  }
}
