import MoonbaseLua
import MoonbasePlatform

/// Runs one script in one preset, and reports the state of the process.
final class Trial {
  private let preset: String
  private let path: String
  private let limits: LuaLimits

  init(preset: String, path: String, limits words: [String]) {
    self.preset = preset
    self.path = path
    limits = Self.limits(words)
  }

  /// The common limits with changes such as "callDepth=100" or "instructions=0" (none).
  private static func limits(_ words: [String]) -> LuaLimits {
    var limits = LuaLimits(instructions: 100_000, memory: 4 << 20, outputSize: 64 << 10, coroutines: 1000)
    for word in words {
      let parts = word.split(separator: "=").map(String.init)
      guard parts.count == 2, let value = Double(parts[1].replacing("M", with: "000000")) else { continue }
      switch parts[0] {
      case "instructions": limits.instructions = value > 0 ? Int64(value) : nil
      case "deadline": limits.deadline = .seconds(value)
      case "memory": limits.memory = UInt64(value)
      case "coroutines": limits.coroutines = Int(value)
      case "callDepth": limits.callDepth = Int(value)
      default: break
      }
    }
    return limits
  }

  /// Prints how the script ended: code, additional kilobytes, whether the state is still sound, message.
  func run() {
    do {
      let state = try LuaState(preset: LuaPreset(rawValue: preset) ?? .pure, limits: limits)
      state.output = .none
      try HostileHost.open(state)
      try warm(state)
      let before = Self.highWater()
      let (code, message) = attempt(try Data(contentsOf: URL(fileURLWithPath: path)), in: state)
      let gained = Self.highWater() - before
      let text = message.prefix(200).replacing("\n", with: " ").replacing("\t", with: " ")
      print(code, gained, aftermath(state), text, separator: "\t", terminator: "\t")
    } catch {
      print("setup", 0, "-", "\(error)", separator: "\t", terminator: "\t")
    }
  }

  private func attempt(_ bytes: Data, in state: LuaState) -> (code: String, message: String) {
    do {
      _ = try state.load(LuaSource(bytes: Array(bytes), name: "attack.lua"))()
      return ("lua.ok", "")
    } catch {
      return (error.code, error.report)
    }
  }

  /// Uses the memory of every run, so that it does not count as additional.
  private func warm(_ state: LuaState) throws {
    _ = attempt(Data("local t = {} for i = 1, 100 do t[i] = ('x'):rep(i) end error({})".utf8), in: state)
    _ = attempt(Data("error('x') -- ".utf8), in: state)
    _ = attempt(Data("x = = 1".utf8), in: state)
    _ = aftermath(state)
    state.collectGarbage()
  }

  /// Whether the state still runs scripts, and another script finds everything unchanged.
  private func aftermath(_ state: LuaState) -> String {
    // Time is no criterion: on a busy machine the check may take longer than an attack's deadline.
    let limits = state.limits
    state.limits.deadline = nil
    defer { state.limits = limits }
    let check = """
      assert(string.rep("a", 2) == "aa" and ("x"):upper() == "X" and math.pi > 3 and #{ 1 } == 1 and select("#", 1, 2) == 2)
      assert(not string.x and not stolen and getmetatable("") ~= 1 and pcall(error) == false and tostring(1) == "1")
      local co = coroutine.wrap(function(a) a = coroutine.yield(a + 1) return a + 1 end)
      return co(1) + co(2)
      """
    do {
      let result = try state.load(check, name: "check.lua").first()
      state.collectGarbage()
      return result.integerValue == 5 ? "good" : "wrong"
    } catch {
      return "broken: \(error)"
    }
  }

  /// The maximum memory of this process in KiB. The figure of getrusage includes the previous process.
  private static func highWater() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return 0 }
    return Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
  }
}
