import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Interrupted runs of `moonbase each`.
@Suite struct EachInterruptionTests {
  let bench: Workbench

  init() throws { bench = try Workbench.withNumbers(3000) }

  private static let code =
    "object.s = (object.s or '') .. 'x' if object.n == 500 then print('at ' .. object.n) io.stdout:flush() end"

  /// The number of objects by the number of their changes.
  private func lengths() throws -> [Int: Int] {
    let lines = try bench.program("sqlite3", "s.sqlite", "SELECT length(ZS), count(*) FROM ZITEM GROUP BY 1").output
    return lines.split(separator: "\n").reduce(into: [:]) { result, line in
      let parts = line.split(separator: "|", omittingEmptySubsequences: false)
      result[Int(parts[0]) ?? 0] = Int(parts[1])
    }
  }

  #if os(Linux)
    @Test func sigintEndsAtTheEdgeOfATransactionAndSaysWhatWasDone() throws {
      let slow = Self.code + " local t = os.clock() while os.clock() < t + 0.001 do end"
      let run = try bench.beginInterruptible(
        ["each", "Item", "--store", "s.sqlite", "--do", slow, "--batch", "100", "--where", "n < 990"])
      try run.wait(for: "at 500")
      run.interrupt()
      #expect(try run.end() == 130)
      let complaints = run.outcome().complaints
      #expect(complaints.contains("what was done with the objects visited is saved"), "\(complaints)")
      let visited = try #require(complaints.firstMatch(of: /(\d+) of \d+ objects visited: (\d+) changed/))
      #expect(visited.1 == visited.2)
      #expect(try lengths()[1] == Int(visited.1), "\(complaints)")
    }

    @Test func codeThatDoesNotEndIsEndedToo() throws {
      let code = Self.code + " if object.n == 500 then while true do end end"
      let run = try bench.beginInterruptible(["each", "Item", "--store", "s.sqlite", "--do", code, "--batch", "100"])
      try run.wait(for: "at 500")
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(try lengths() == [0: 2600, 1: 400])
      // The reported counts equal the saved ones.
      let complaints = run.outcome().complaints
      #expect(complaints.contains("500 of 3000 objects visited: 400 changed, 100 not saved; "), "\(complaints)")
      #expect(
        complaints.contains("what was done with 400 of 500 objects visited is saved; the other 100 "), "\(complaints)")
    }

    @Test func codeThatDoesNotEndInADryRunSavedNothing() throws {
      let code = Self.code + " if object.n == 500 then while true do end end"
      let run = try bench.beginInterruptible(
        ["each", "Item", "--store", "s.sqlite", "--do", code, "--batch", "100", "--dry-run"])
      try run.wait(for: "at 500")
      run.interrupt()
      #expect(try run.end() == 130)
      let complaints = run.outcome().complaints
      #expect(complaints.contains("400 would be changed, 100 not looked at to the end; "), "\(complaints)")
      #expect(complaints.contains("interrupted: nothing was saved"), "\(complaints)")
    }
  #endif

  @Test func aKilledRunLeavesWholeBatchesAndMayBeRunAgain() throws {
    let run = try bench.begin(
      "each", "Item", "--store", "s.sqlite", "--do", Self.code + " if object.n == 500 then while true do end end",
      "--batch", "100")
    try run.wait(for: "at 500")
    // The previous batch is saved while this one is visited.
    for _ in 0..<3000 where try lengths()[1] != 400 { usleep(10_000) }
    run.kill()
    #expect(try lengths() == [0: 2600, 1: 400])
    let again = try bench.moonbase(
      "each", "Item", "--store", "s.sqlite", "--do", "object.s = 'x'", "--where", "s == NULL", "--quiet")
    #expect(again.status == 0, "\(again)")
    #expect(try lengths() == [1: 3000])
  }

  @Test func aFullDiskEndsItAndWhatWasSavedStays() throws {
    // Limits the size of a file, in blocks of 1024 bytes.
    let full = try bench.program(
      "bash", "-c", "ulimit -f 700; exec \"$0\" \"$@\"", Workbench.command.path, "each", "Item", "--store", "s.sqlite",
      "--do", "object.s = ('x'):rep(1000)", "--batch", "50")
    #expect(full.status == 1 && full.complaints.contains("objects visited"), "\(full)")
    let changed = try #require(full.complaints.firstMatch(of: /(\d+) changed/))
    #expect(try lengths()[1000] == Int(changed.1), "\(full)")
    #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
  }

  @Test func aStoreThatIsLockedIsBusy() throws {
    let locker = try bench.lock("s.sqlite")
    let busy = try bench.moonbase(
      "each", "Item", "--store", "s.sqlite", "--do", "object.s = 'x'", "--busy-timeout", "0.1")
    #expect(busy.status == 75, "\(busy)")
    locker.end()
    #expect(try lengths() == [0: 3000])
  }
}
