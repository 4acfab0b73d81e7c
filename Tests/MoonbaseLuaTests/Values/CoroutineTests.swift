import MoonbaseLua
import MoonbasePlatform
import Testing

/// Coroutines that Swift resumes.
@Suite struct CoroutineTests {
  @Test func coroutinesResumeFromSwift() throws {
    let state = try LuaState()
    let function = try #require(
      try state.load("return function(a) local b = coroutine.yield(a + 1) error('end ' .. b) end", name: "t")().first?
        .functionValue)
    let thread = try function.makeThread()
    #expect(try thread.resume([1]).first?.integerValue == 2)
    #expect(try thread.status == .suspended)
    let error = try #require(throws: LuaError.self) { try thread.resume([5]) }
    #expect(error.message == "end 5")
    #expect(try thread.status == .dead)
  }

  @Test func aCoroutineIsResumedByOneOnly() throws {
    let state = try LuaState()
    var thread: LuaThread?
    try state.setGlobal("again", to: state.function { _ in _ = try thread?.resume() })
    try state.setGlobal("end_it", to: state.function { _ in try thread?.close() })
    for code in ["again()", "end_it()", "coroutine.wrap(function() again() end)()"] {
      thread = try state.load("return function() \(code) end", name: "t").first().functionValue?.makeThread()
      #expect(throws: LuaError.self, "\(code)") { try thread?.resume() }
      #expect(try thread?.status == .dead)
      #expect(throws: LuaError.self) { try thread?.resume() }
    }
    #expect(try state.load("return 1", name: "t").first().integerValue == 1)
  }

  /// Each run may be on another thread, on which a coroutine continues.
  @Test func aCoroutineGoesOnInAnotherThread() throws {
    let state = try LuaState(limits: LuaLimits(deadline: .seconds(5)))
    let code = "return function() for i = 1, 100 do coroutine.yield(i) end end"
    let thread = try #require(try state.load(code, name: "t").first().functionValue?.makeThread())
    nonisolated(unsafe) let shared = thread  // each resume waits for the previous one
    nonisolated(unsafe) var seen: [Int64?] = []  // each resume waits for the previous one
    for _ in 0..<10 {
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        seen.append((try? shared.resume())?.first?.integerValue)
        done.signal()
      }
      done.wait()
    }
    #expect(seen == (1...10).map(Int64.init))
  }
}
