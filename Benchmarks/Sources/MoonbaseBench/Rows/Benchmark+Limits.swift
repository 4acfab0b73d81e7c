import MoonbaseLua
import Yardsticks

/// The cost of limits and of the sandbox's pattern matcher, compared with bare Lua.
extension Benchmark {
  static var limits: [Benchmark] { [deadline, instructions, patterns] }

  /// Typical work of programs: tables, arithmetic, closures, strings as keys.
  private static let program = """
    local n = ...
    local function adder(k) return function(x) return x + k end end
    local list, names, sum = {}, {}, 0
    for i = 1, 64 do names[i] = "name" .. i end
    for i = 1, n do
      list[i % 64] = i
      local key = names[i % 64 + 1]
      list[key] = (list[key] or 0) + (list[(i * 7) % 64] or 0) % 3
      if i % 16 == 0 then sum = sum + adder(i % 5)(1) end
    end
    for _, value in pairs(list) do sum = sum + value end
    return sum
    """

  private static var deadline: Benchmark {
    Benchmark(
      name: "lua-deadline", title: "a Lua program under a deadline only", goal: .ratio(1.05),
      yardstick: { .number(yardstick_lua_runs(program, Int64($0.count) * 10, 0)) },
      subject: { try run(program, $0, LuaLimits(deadline: .seconds(3600), sourceSize: nil, coroutines: nil)) })
  }

  private static var instructions: Benchmark {
    Benchmark(
      name: "lua-instructions", title: "the same with counted instructions, C: bare hook", goal: .ratio(1.1),
      yardstick: { .number(yardstick_lua_runs(program, Int64($0.count) * 10, 1000)) },
      subject: { try run(program, $0, LuaLimits(instructions: .max / 2, sourceSize: nil, coroutines: nil)) })
  }

  private static var patterns: Benchmark {
    let script = """
      local n = ...
      local sum = 0
      for i = 1, n do
        local line = "key" .. i .. " = value " .. i * 7 .. "; other=42, (nested (parens)) 2001-01-" .. i % 28
        local key, value = line:match("^(%w+)%s*=%s*(%w+)")
        sum = sum + #key + #value + line:find("%d+%-%d+%-%d+") + line:find("nested", 1, true)
        for word in line:gmatch("%a+") do sum = sum + #word end
        sum = sum + #line:gsub("%d", "#") + #line:gsub("%s+", " ") + #(line:match("%b()") or "")
      end
      return sum
      """
    return Benchmark(
      name: "lua-patterns", title: "pattern functions, C: Lua's own", goal: .ratio(1.3),
      yardstick: { .number(yardstick_lua_runs(script, Int64($0.count) / 2, 0)) },
      subject: { try run(script, $0, .none, share: 2) })
  }

  private static func run(
    _ script: String, _ workplace: Workplace, _ limits: LuaLimits, share: Int64 = 0
  ) throws -> Answer {
    let state = try LuaState(preset: .standard, limits: limits)
    let chunk = try state.load(script, name: "row")
    let count = share > 0 ? Int64(workplace.count) / share : Int64(workplace.count) * 10
    return try number(chunk(.integer(count)))
  }
}
