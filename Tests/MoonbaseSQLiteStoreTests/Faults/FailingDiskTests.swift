import MoonbaseFaultyDisk
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Disk failures during saves: each of forty saves is tried with a fault at its first disk step, then at its second,
/// until the save succeeds.
@Suite struct FailingDiskTests {
  struct Fault: CustomTestStringConvertible {
    let step: FaultyDisk.Step
    let code: Int32
    var hasLogs = true
    var lasts = false
    /// The distance between the steps that are tried.
    var stride = 1

    var testDescription: String {
      "\(step) with \(code)\(lasts ? " from then on" : "") \(hasLogs ? "beside a log" : "beside a journal")"
    }
  }

  /// SQLite's result codes for disk failures.
  private enum Code {
    static let full: Int32 = 13
    static let corrupt: Int32 = 11
    static let read: Int32 = 266
    static let truncate: Int32 = 1546
    static let write: Int32 = 778
    static let sync: Int32 = 1034
    static let delete: Int32 = 2570
    static let lock: Int32 = 3850
    static let shared: Int32 = 5130
    static let open: Int32 = 14
  }

  /// The disk steps of a save with a log and with a journal.
  private static let faults = [
    Fault(step: .write, code: Code.write), Fault(step: .write, code: Code.full, lasts: true, stride: 3),
    Fault(step: .sync, code: Code.sync), Fault(step: .sync, code: Code.sync, lasts: true),
    Fault(step: .lockLog, code: Code.shared),
    Fault(step: .write, code: Code.write, hasLogs: false),
    Fault(step: .write, code: Code.full, hasLogs: false, lasts: true, stride: 3),
    Fault(step: .sync, code: Code.sync, hasLogs: false),
    Fault(step: .sync, code: Code.sync, hasLogs: false, lasts: true),
    Fault(step: .lock, code: Code.lock, hasLogs: false), Fault(step: .delete, code: Code.delete, hasLogs: false),
    Fault(step: .open, code: Code.open, hasLogs: false), Fault(step: .read, code: Code.read, hasLogs: false),
    Fault(step: .read, code: Code.corrupt, hasLogs: false),
    Fault(step: .truncate, code: Code.truncate),
  ]

  @Test(arguments: faults) func aStepThatFailsLeavesContextAndFileAsTheyWereAndTheNextSaveWorks(_ fault: Fault) throws {
    let bench = try ShelfBench(hasLogs: fault.hasLogs)
    try run(bench, error: fault.code == Code.full ? "there is no room" : "store.sqlite") { number in
      bench.disk.fail(fault.step, after: number * fault.stride, code: fault.code, lasting: fault.lasts)
    } heal: {
      bench.disk.heal()
    }
  }

  @Test(
    arguments: [StatementObserver.FileStep.write, .synchronize, .synchronizeFolder, .remove, .synchronizeCommit],
    [false, true])
  func aStepWithAFileOfAValueThatFailsDoesTheSame(_ step: StatementObserver.FileStep, _ lasts: Bool) throws {
    let bench = try ShelfBench(hasLogs: true)
    let rest = Lock<(count: Int, failures: Int)>((Int.max, 0))
    bench.store.statements.listenToFiles { taken, _ in
      rest.withLock { rest in
        guard taken == step else { return 0 }
        rest.count -= 1
        guard rest.count == -1 || lasts && rest.count < 0 else { return 0 }
        rest.failures += 1
        return ENOSPC
      }
    }
    try run(bench, error: "_EXTERNAL_DATA") { number in
      rest.withLock { $0 = (number, 0) }
    } heal: {
      rest.withLock { rest in
        defer { rest = (Int.max, 0) }
        return rest.failures
      }
    }
  }

  /// Makes forty saves, each with a fault at the first step, at the second, and so on.
  private func run(_ bench: ShelfBench, error: String, fail: (Int) -> Void, heal: () -> Int) throws {
    var bench = bench
    var failures = 0
    for save in 0..<ShelfScript.saves {
      try bench.script.change(save)
      let state = try bench.script.state()
      if save == 5 || save == 15 || save == 30 { try bench.fillLog() }
      let (rows, text) = (try ShelfBench.contents(bench.raw), try ShelfBench.text(bench.raw))
      let files = ShelfBench.files(bench.folder)
      for number in 0... {
        fail(number)
        let outcome = Result { try bench.script.context.save() }
        failures += heal()
        guard case .failure(let thrown) = outcome else { break }
        #expect("\(thrown)".contains(error), "\(save).\(number): \(thrown)")
        #expect(thrown is GraphError, "\(save).\(number): \(thrown)")
        try #require(bench.script.state() == state, "the context after \(save).\(number): \(thrown)")
        if try ShelfBench.text(bench.raw) != text {
          let changes = try ShelfBench.contents(bench.raw).changes(since: rows)
          try #require(changes == [], "the file after \(save).\(number): \(thrown)")
        }
        try #require(ShelfBench.files(bench.folder) == files, "the values' files after \(save).\(number): \(thrown)")
      }
      #expect(!bench.script.context.hasChanges)
      let there = ShelfBench.files(bench.folder)
      #expect(try ShelfBench.namedFiles(bench.raw).allSatisfy { there[$0] ?? 0 > 100_000 })
    }
    #expect(try bench.raw.rows("PRAGMA integrity_check") == ["ok"])
    #expect(try bench.raw.rows("SELECT COUNT(*) FROM ZBOOK") == ["\(bench.script.books.count)"])
    #expect(failures > 0, "no step failed")
  }
}
