import MoonbaseLua
import MoonbasePlatform
import Testing

/// The stand-alone interpreter and SIGINT. The tests run one after the other, since SIGINT concerns the whole process.
@Suite(.serialized) final class InterpreterTests {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-lua-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test func aFileRunsAsUnderTheInterpreter() throws {
    let state = try LuaState(preset: .trusted, limits: .none)
    let collected = Collected()
    state.output = collected.sink
    let file = folder.appendingPathComponent("main.lua")
    try
      "#!/usr/bin/env lua\nprint(arg[0] ~= nil, #arg, ...)\nif ... == 'exit' then os.exit(7) end\nerror('bad ' .. ...)\n"
      .write(to: file, atomically: true, encoding: .utf8)
    let interpreter = try LuaInterpreter(state, program: "moonbase", handlesInterrupts: false)
    #expect(interpreter.run(file: file.path, arguments: ["exit", "2"]) == 7)
    #expect(collected.output == "true\t2\texit\t2\n")
    #expect(interpreter.run(file: file.path, arguments: ["x"]) == 1)
    #expect(collected.errors.hasPrefix("moonbase: "))
    #expect(collected.errors.contains("main.lua:4: bad x\nstack traceback:\n"))
    #expect(interpreter.run(file: "/nowhere.lua") == 1)
    #expect(interpreter.run(code: "x = 1") == 0)
    #expect(interpreter.run(code: "os.exit(x == 1)") == 0)
    #expect(interpreter.run(code: "x = = 1") == 1)
  }

  @Test func sigintEndsTheScript() throws {
    let state = try LuaState(preset: .trusted, limits: .none)
    let collected = Collected()
    state.output = collected.sink
    try state.setGlobal("raise", to: state.function { _ in kill(getpid(), SIGINT) })
    let interpreter = try LuaInterpreter(state)
    #expect(interpreter.run(code: "raise() while true do end") == 130)
    #expect(collected.errors.contains("interrupted"))
  }

  @Test func anInterruptionBeforeTheRunIsNotLost() throws {
    let state = try LuaState()
    LuaInterrupter.onSIGINT(state.interrupter)
    defer { LuaInterrupter.onSIGINT(nil) }
    kill(getpid(), SIGINT)
    let error = try #require(throws: LuaError.self) { try state.load("while true do end", name: "t")() }
    #expect(error.kind == .interrupted)
    #expect(try state.load("return 1", name: "t").first().integerValue == 1)
  }

  /// If a run ends before it checks for an interruption, the interruption ends the next run.
  @Test func anInterruptionAtTheEndOfARunIsNotLost() throws {
    let state = try LuaState()
    let spin = try state.load("while true do end", name: "t")
    LuaInterrupter.onSIGINT(state.interrupter)
    defer { LuaInterrupter.onSIGINT(nil) }
    // Threads of a pool block the signal.
    var set = sigset_t()
    var before = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    pthread_sigmask(SIG_UNBLOCK, &set, &before)
    state.run { _ = pthread_kill(pthread_self(), SIGINT) }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    for kind in [LuaError.Kind.interrupted, .limit(.instructions)] {
      state.limits.instructions = 1_000_000
      let error = try #require(throws: LuaError.self) { try spin() }
      #expect(error.kind == kind)
    }
  }
}
