import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Imports that are killed and run again take each row exactly once; `MOONBASE_CYCLES` sets the number of kills
/// (`scripts/crash`).
@Suite(.serialized) struct KilledImportTests {
  private static let cycles = Repetition.killedImports.count

  @Test func everyRowIsTakenOnceHoweverOftenTheImportIsKilled() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    var kills = 0
    while kills < Self.cycles {
      let bench = try Workbench.forImports()
      let count = 20_000
      var text = "name,age,email\n"
      for number in 0..<count {
        text += "p\(number),\(number % 50 == 7 ? "old" : "5"),\(number % 50 == 9 ? "e0" : "e\(number)")\n"
      }
      try bench.write(text, to: "p.csv")
      let arguments = ["import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua", "--batch", "200"]
      var status: Int32?
      for _ in 0..<60 where status == nil {
        let victim = try ChildProcess(Workbench.command, arguments, in: bench.folder)
        for _ in 0..<(20 + random.next(500)) where victim.isRunning { usleep(1000) }
        if victim.isRunning {
          victim.kill()
          kills += 1
          try look(bench, "after \(kills) kills")
        } else {
          status = try victim.end()
        }
      }
      if status == nil { status = try bench.moonbase(arguments).status }
      // An import killed after its last transaction is complete, and its reject file is not overwritten.
      #expect(status == 4 || status == 2)
      // Every fiftieth row has an invalid age, and every fiftieth but the first a taken value.
      let rejected = count / 50 * 2
      #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == Int64(count - rejected))
      #expect(try bench.number("SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON") == Int64(count - rejected))
      let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
      let lines = rejects.split(separator: "\n").dropFirst().map { Int($0.split(separator: ",")[3]) }
      let isComplete = lines == (0..<count).filter { [7, 9].contains($0 % 50) }.map { $0 + 2 }
      #expect(isComplete, "\(lines.count) rejects")
      // The ledger has no entry left, so the file may be imported again.
      #expect(try bench.moonbase("info", "s.sqlite").complaints == "")
    }
  }

  private func look(_ bench: Workbench, _ what: String) throws {
    guard try bench.names().contains("s.sqlite") else { return }
    let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
    #expect(try raw.text("PRAGMA integrity_check") == "ok", "\(what)")
    guard try raw.integer("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZPERSON'") == 1 else { return }
    // The imported rows are the beginning of the file, without a gap.
    let last = try raw.integer("SELECT MAX(CAST(SUBSTR(ZNAME, 2) AS INTEGER)) FROM ZPERSON") ?? -1
    let good = try raw.integer("SELECT COUNT(*) FROM ZPERSON") ?? 0
    let wanted = (0..<max(0, last + 1)).count { ![7, 9].contains($0 % 50) }
    #expect(good == Int64(wanted), "\(what): \(last)")
  }

  #if os(Linux)
    @Test func sigintEndsAtTheEdgeOfATransactionAndTheNextRunGoesOn() throws {
      let bench = try Workbench.forImports()
      try bench.write("name\n" + (0..<200_000).map { "p\($0)\n" }.joined(), to: "p.csv")
      let arguments = ["import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua", "--batch", "100"]
      let victim = try bench.beginInterruptible(arguments)
      while victim.isRunning, (try? bench.number("SELECT COUNT(*) FROM ZPERSON")) ?? 0 == 0 { usleep(2000) }
      victim.interrupt()
      #expect(try victim.end() == 130)
      #expect(victim.outcome().complaints.contains("run it again to go on"), "\(victim.outcome())")
      let count = try bench.number("SELECT COUNT(*) FROM ZPERSON") ?? 0
      #expect(count > 0 && count % 100 == 0 && count < 200_000)
      let again = try bench.moonbase(arguments)
      #expect(again.status == 0 && again.complaints.contains("it goes on in line \(count + 2)"), "\(again)")
      #expect(try bench.number("SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON") == 200_000)
    }
  #endif

  @Test func aFileThatChangedSinceIsNotGoneOnWith() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\n" + (0..<5000).map { "p\($0)\n" }.joined(), to: "p.csv")
    // The import is interrupted because the store has no more room.
    let arguments = ["import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua", "--batch", "100"]
    let limited = try bench.program(
      "sh", ["-c", "ulimit -f 800; exec \"$@\"", "sh", Workbench.command.path] + arguments)
    #expect(limited.status == 1 && limited.complaints.contains("run it again to go on"), "\(limited)")
    let count = try bench.number("SELECT COUNT(*) FROM ZPERSON") ?? 0
    try #require(count > 0 && count < 5000)
    try bench.write("name\nother\n", to: "p.csv")
    let refused = try bench.moonbase(arguments)
    #expect(refused.status == 1 && refused.complaints.contains("the file has changed since: --restart begins anew"))
    let anew = try bench.moonbase(arguments + ["--restart"])
    #expect(anew.status == 0, "\(anew)")
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == count + 1)
  }
}
