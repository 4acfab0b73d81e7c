import MoonbaseLua
import MoonbasePlatform
import Testing

/// Operations of other threads on a running state: releasing values, interrupting the run, and ending it at its
/// deadline.
@Suite struct LuaConcurrencyTests {
  @Test func valuesAreLetGoOnOtherThreads() throws {
    let state = try LuaState()
    let script = """
      local alive = setmetatable({}, { __mode = "k" })
      local function make(n) local t = { n } alive[t] = true return t end
      local function count() local n = 0 for _ in pairs(alive) do n = n + 1 end return n end
      return make, count
      """
    let functions = try state.load(script, name: "t")().compactMap(\.functionValue)
    let (make, count) = (functions[0], functions[1])
    for round in 0..<50 {
      let tables = try (0..<20).map { try make.first(.integer(Int64(round * 20 + $0))) }
      nonisolated(unsafe) let handles = tables  // handles may be released on any thread
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        _ = handles.count
        done.signal()
      }
      thread.start()
      if round % 10 == 9 { done.wait() }
    }
    // The last thread may release its handle a moment after it has signalled.
    for _ in 0..<1000 where try count.first().integerValue != 0 {
      usleep(1000)
      state.collectGarbage()
    }
    #expect(try count.first().integerValue == 0)
    #expect(try make.first(7).tableValue?.get(1).integerValue == 7)
  }

  @Test func statesOfManyThreadsEndAtTheirDeadlines() async throws {
    let kinds = await withTaskGroup(of: LuaError.Kind?.self) { group in
      for _ in 0..<8 {
        group.addTask {
          guard let state = try? LuaState(limits: LuaLimits(deadline: .seconds(0.02))) else { return nil }
          do {
            _ = try state.load("while true do pcall(function() while true do end end) end", name: "t")()
            return nil
          } catch {
            return (error as? LuaError)?.kind
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(kinds.count == 8)
    #expect(kinds.allSatisfy { $0 == .limit(.deadline) })
  }

  @Test func aRunIsInterruptedFromAnotherThread() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 5_000_000_000))
    for _ in 0..<20 {
      let interrupter = state.interrupter
      try state.setGlobal(
        "start",
        to: state.function { _ in
          // The run has begun, so the interruption cannot come too early.
          let thread = Thread { interrupter.interrupt() }
          thread.start()
        })
      let error = #expect(throws: LuaError.self) { try state.load("start() while true do end", name: "t")() }
      #expect(error?.kind == .interrupted)
    }
  }
}
