import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Power failures, which lose all or a part of the data written but not synced.
///
/// Forty saves are recorded once with every disk step. Each seed selects a moment and the lost data. `MOONBASE_SEEDS`
/// sets the number of seeds for log and for journal mode, `MOONBASE_SEED` the first seed.
@Suite struct LostPowerTests {
  private static let seeds: Range<Int> = {
    let first = TestLength.firstSeed ?? 0
    return first..<first + Repetition.lostPower.seeds
  }()

  @Test(arguments: [true, false]) func whatIsLeftIsASaveAndAllBeforeIt(_ hasLogs: Bool) throws {
    let (events, states) = try record(hasLogs: hasLogs)
    var moments = Self.seeds.map { seed in
      var random = SplitMix(UInt64(seed))
      return (seed: seed, moment: random.next(events.count + 1), random: random)
    }
    moments.sort { $0.moment < $1.moment }
    var power = LostPower(hasLogs: hasLogs)
    var next = moments[...]
    var found: Set<Int> = []
    for moment in 0...events.count {
      while var one = next.first, one.moment == moment {
        next.removeFirst()
        let folder = try TemporaryFolder()
        try power.leave(in: folder, &one.random)
        found.insert(try look(into: folder, power, states, "seed \(one.seed), \(hasLogs)"))
      }
      if moment < events.count { power.take(events[moment]) }
    }
    #expect(
      !TestLength.isLong || Self.seeds.count < 250 || found.count > (hasLogs ? 5 : 30),
      "only \(found.count) different states")
  }

  /// Records the disk steps of the forty saves, and the tables after each save.
  private func record(hasLogs: Bool) throws -> ([LostPower.Event], [TableContents]) {
    let events = Lock<[LostPower.Event]>([])
    var bench = try ShelfBench(hasLogs: hasLogs) { disk in
      disk.listen { event in
        if !event.name.hasSuffix("-shm") { events.withLock { $0.append(.disk(event)) } }
      }
    }
    let support = bench.folder.file(".store_SUPPORT/_EXTERNAL_DATA")
    bench.store.statements.listenToFiles { step, name in
      let bytes =
        step == .synchronize ? (try? Data(contentsOf: support.appendingPathComponent(name))) ?? Data() : Data()
      events.withLock { $0.append(.file(step, name, Array(bytes))) }
      return 0
    }
    defer { bench.store.statements.listenToFiles(nil) }
    events.withLock { $0.append(.saved(1)) }
    var states = [try ShelfBench.contents(bench.raw)]
    for save in 0..<ShelfScript.saves {
      try bench.script.change(save)
      try bench.script.context.save()
      events.withLock { $0.append(.saved(save + 2)) }
      states.append(try ShelfBench.contents(bench.raw))
      if save % 9 == 8 { _ = try bench.raw.rows("PRAGMA wal_checkpoint(\(save % 2 == 0 ? "PASSIVE" : "TRUNCATE"))") }
    }
    return (events.withLock { $0 }, states)
  }

  /// Returns the last save that the file contains; 0 is a file without a store.
  private func look(into folder: TemporaryFolder, _ power: LostPower, _ states: [TableContents], _ what: String) throws
    -> Int
  {
    let raw = try RawDatabase(folder.file(), orNew: true)
    #expect(try raw.rows("PRAGMA integrity_check") == ["ok"], "\(what)")
    let contents = try ShelfBench.contents(raw)
    let isBare = try raw.rows("SELECT name FROM sqlite_master").isEmpty
    let number = isBare ? 0 : (states.firstIndex(of: contents) ?? -2) + 1
    #expect((power.durable...power.saved + 1).contains(number), "\(what): \(number)")
    let files = ShelfBench.files(folder)
    for name in isBare ? [] : try ShelfBench.namedFiles(raw) {
      #expect(files[name] ?? 0 > 100_000, "\(what): the file \(name) of a value has \(files[name] ?? 0) bytes")
    }
    return number
  }
}
