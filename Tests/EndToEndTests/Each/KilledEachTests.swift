import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Runs of `each` killed at random moments; `MOONBASE_CYCLES` sets the number of kills (`scripts/crash`).
@Suite(.serialized) struct KilledEachTests {
  private static let cycles = Repetition.killedEach.count
  private static let count = 6000

  /// The number of saved objects by the number of their changes.
  private func changes(_ bench: Workbench) throws -> [Int64: Int64] {
    let raw = try bench.connection(to: "s.sqlite", mode: .readOnly)
    let statement = try raw.statement("SELECT length(COALESCE(ZS, '')), COUNT(*) FROM ZITEM GROUP BY 1")
    defer { statement.reset() }
    var found: [Int64: Int64] = [:]
    while try statement.step() { found[statement.integer(0)] = statement.integer(1) }
    return found
  }

  private func ended(_ victim: ChildProcess, within milliseconds: Int, _ look: () throws -> Void) rethrows -> Bool {
    for _ in 0..<milliseconds where victim.isRunning { usleep(1000) }
    guard victim.isRunning else { return true }
    try look()
    victim.kill()
    return false
  }

  /// Half of the kills: whole batches are saved from the beginning on, and each object is changed once.
  @Test func whatWasSavedStaysAndTheRestIsDoneByTheNextRun() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    var kills = 0
    while kills < Self.cycles / 2 {
      let bench = try Workbench.withNumbers(Self.count)
      var (isDone, patience) = (false, 300)
      while !isDone {
        let before = try changes(bench)[1] ?? 0
        let victim = try bench.begin(
          "each", "Item", "--store", "s.sqlite", "--where", "s == NULL", "--do", "object.s = (object.s or '') .. 'x'",
          "--batch", "25", "--quiet")
        var seen: Int64 = 0
        isDone = try ended(victim, within: 20 + random.next(patience)) { seen = try changes(bench)[1] ?? 0 }
        if isDone {
          #expect(try victim.end() == 0)
          break
        }
        kills += 1
        let found = try changes(bench)
        // A busy machine may need longer to start.
        if found[1] ?? 0 == before { patience *= 2 }
        #expect(found[1] ?? 0 >= max(seen, before) && (found[1] ?? 0) % 25 == 0, "\(found), before the kill \(seen)")
        #expect(found.keys.allSatisfy { $0 <= 1 })
        let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
        #expect(try raw.integer("SELECT COALESCE(MAX(Z_PK), 0) FROM ZITEM WHERE ZS NOT NULL") == found[1] ?? 0)
        #expect(try raw.text("PRAGMA integrity_check") == "ok")
      }
      #expect(try changes(bench) == [1: Int64(Self.count)])
    }
  }

  /// The other half of the kills: a statement is executed completely or not at all.
  @Test func oneStatementIsDoneAsAWholeOrNotAtAll() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    let bench = try Workbench.withNumbers(Self.count)
    var (kills, length) = (0, Int64(0))
    while kills < Self.cycles / 2 {
      // The longer the statement takes, the more kills happen during it.
      let code = "object.s = object.n and ('y'):rep(300):find(('y?'):rep(6) .. 'z') or (object.s or '') .. 'x'"
      let victim = try bench.begin("each", "Item", "--store", "s.sqlite", "--do", code, "--quiet")
      let isDone = ended(victim, within: 20 + random.next(250)) {}
      let found = try changes(bench)
      #expect(
        found == [length: Int64(Self.count)] || found == [length + 1: Int64(Self.count)], "after \(kills): \(found)")
      if isDone { #expect(found == [length + 1: Int64(Self.count)]) }
      length = found.keys.first ?? -1
      if !isDone { kills += 1 }
    }
    #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
  }
}
