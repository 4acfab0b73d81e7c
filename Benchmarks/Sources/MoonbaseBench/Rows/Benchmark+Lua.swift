import MoonbaseLua
import Yardsticks

/// The cost of calls between Lua and Swift, compared with calls between Lua and C.
extension Benchmark {
  static var lua: [Benchmark] { [luaCallsSwift, luaReadsProperty, swiftCallsLua, newState] }

  private static var luaCallsSwift: Benchmark {
    let script = "local f, n = ... local s = 0 for i = 1, n do s = s + f(i) end return s"
    return Benchmark(
      name: "lua-calls-swift", title: "Lua calls a Swift function with an integer", goal: .ratio(2),
      yardstick: { .number(yardstick_lua_calls_host(script, Int64($0.count) * 10)) },
      subject: { workplace in
        let state = try LuaState()
        let chunk = try state.load(script, name: "row")
        let function = try state.function { call in call.return(try call.integer(0) + 1) }
        return try number(chunk(function, .integer(Int64(workplace.count) * 10)))
      })
  }

  private static var luaReadsProperty: Benchmark {
    let script = "local o, n = ... local s = 0 for i = 1, n do s = s + o.age end return s"
    return Benchmark(
      name: "lua-reads-property", title: "Lua reads a property of a host object", goal: .ratio(1.5),
      yardstick: { .number(yardstick_lua_reads_property(script, Int64($0.count) * 10)) },
      subject: { workplace in
        let state = try LuaState()
        let type = LuaHostType<Person>("Person")
        type.properties(["age"], get: { person, _, call in call.return(person.age) })
        try state.register(type)
        let chunk = try state.load(script, name: "row")
        let count = LuaValue.integer(Int64(workplace.count) * 10)
        return try number(chunk(.object(LuaObject(Person(age: 7), as: type)), count))
      })
  }

  private static var swiftCallsLua: Benchmark {
    let script = "return function(a, b) return a * b end"
    return Benchmark(
      name: "swift-calls-lua", title: "Swift calls a Lua function with two integers", goal: .ratio(1.3),
      yardstick: { .number(yardstick_host_calls_lua(script, Int64($0.count) * 10)) },
      subject: { workplace in
        let state = try LuaState()
        guard let function = try state.load(script, name: "row").first().functionValue else {
          throw Failure("the script returned no function")
        }
        let call = LuaFastCall(function, parameters: 2)
        var sum: Int64 = 0
        try state.run {
          for index in 0..<Int64(workplace.count) * 10 {
            sum += try call.run {
              $0.set(0, integer: index)
              $0.set(1, integer: 2)
            } reading: {
              $0.integer ?? 0
            }
          }
        }
        return .number(sum)
      })
  }

  private static var newState: Benchmark {
    let states: Int64 = 500
    return Benchmark(
      name: "new-state", title: "a new sandboxed state with its libraries", goal: .ratio(3),
      yardstick: { _ in .number(yardstick_new_states(states)) },
      subject: { _ in
        for _ in 0..<states { _ = try LuaState(preset: .standard, limits: .untrusted) }
        return .number(states)
      })
  }

  private final class Person {
    let age: Int64

    init(age: Int64) {
      self.age = age
    }
  }

  static func number(_ results: [LuaValue]) throws -> Answer {
    guard case .integer(let number)? = results.first else { throw Failure("the script gave \(results)") }
    return .number(number)
  }
}
