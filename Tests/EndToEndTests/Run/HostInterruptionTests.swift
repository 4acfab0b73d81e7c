import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// SIGINT ends any work of the host for a script, as it ends the script.
  @Suite struct HostInterruptionTests {
    let bench: Workbench

    init() throws {
      bench = try Workbench()
      try bench.write(HostLimitTests.model, to: "m.lua")
      try bench.write(
        """
        local e = {}
        for i = 1, 400 do e['E' .. i] = { attributes = { a = 'string', b = 'integer64' } } end
        return { entities = e }
        """, to: "big.lua")
    }

    static let works = [
      "SQL": "assert(c:save()) READY \(HostLimitTests.count)",
      "subqueries": "READY \(HostLimitTests.count)",
      "sorting": "READY while true do pcall(function() c:fetch('P'):sort('friends.@count', 's'):all() end) end",
      "expressions": "READY while true do pcall(function() c:fetch('P'):where([[s MATCHES '(a+)+b']]):all() end) end",
      "models": "READY while true do pcall(moonbase.open, { model = 'big.lua' }) end",
      "new stores":
        "READY while true do pcall(moonbase.open, { model = 'big.lua', store = 'big.sqlite' }) os.remove('big.sqlite') end",
      "rollbacks": "READY while true do for i = 1, 500 do c:insert('P') end c:rollback() end",
    ]

    @Test(arguments: works.keys.sorted())
    func anInterruptionEndsWorkOfTheHost(_ name: String) throws {
      let work = try #require(Self.works[name]).replacing("READY", with: HostLimitTests.ready)
      let run = try begin(HostLimitTests.beginning + work)
      try run.wait(for: "ready")
      usleep(200_000)
      run.interrupt()
      #expect(try run.end() == 130)
    }

    @Test func anInterruptionEndsTheWaitForALock() throws {
      let run = try begin(
        "local c = moonbase.context c:insert('P') assert(c:save()) c:insert('P') \(HostLimitTests.ready) io.read('l') "
          + "print('waiting') io.stdout:flush() while true do c:save() end")
      try run.wait(for: "ready")
      let locker = try bench.lock("s.sqlite")
      run.say("go on")
      try run.wait(for: "waiting")
      usleep(200_000)
      run.interrupt()
      #expect(try run.end() == 130)
      locker.end()
    }

    private func begin(_ script: String) throws -> ChildProcess {
      try bench.beginInterruptible(
        ["run", "--sandbox", "trusted", "--model", "m.lua", "--store", "s.sqlite", "--limit-time", "60", "-e", script])
    }
  }
#endif
