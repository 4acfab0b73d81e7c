import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Processes killed while they migrate a store by a script and back again; `MOONBASE_CYCLES` sets the number of kills
/// (`scripts/crash`).
@Suite(.serialized) struct KilledMigrationTests {
  private static let cycles = Repetition.killedMigrations.count

  private static func model(_ attributes: String) -> String {
    """
    return { entities = {
      Order = {
        attributes = { \(attributes)n = "integer64", scan = { "binary", external_storage = true } },
        relationships = { lines = { to_many = "Line", inverse = "order" } },
      },
      Line = { attributes = { n = "integer64" }, relationships = { order = { to = "Order", inverse = "lines" } } },
    } }
    """
  }

  private static let mapping = "return { Order = function(old, new) new.double = 2 * old.n end }"

  private static let filling = """
    local c = moonbase.context
    for n = 1, 100 do
      local order = c:insert("Order", { n = n })
      if n % 10 == 0 then order.scan = string.rep(string.char(n), 150000) end
      for _ = 1, 5 do c:insert("Line", { n = n, order = order }) end
    end
    assert(c:save())
    """

  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model(""), to: "old.lua")
    try bench.write(Self.model("double = \"integer64\", "), to: "new.lua")
    try bench.write(Self.mapping, to: "m.lua")
    let run = try bench.moonbase("run", "--store", "s.sqlite", "--model", "old.lua", "-e", Self.filling)
    #expect(run.status == 0, "\(run.complaints)")
  }

  private func isNew() throws -> Bool {
    let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
    return try raw.integer("SELECT COUNT(*) FROM pragma_table_info('ZORDER') WHERE name = 'ZDOUBLE'") == 1
  }

  private func arguments() throws -> [String] {
    try ["migrate", "s.sqlite", "--to"] + (isNew() ? ["old.lua", "--allow-loss"] : ["new.lua", "--mapping", "m.lua"])
  }

  @Test func theStoreIsTheOldOneOrTheNewOneAndNothingStays() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    // The time of an undisturbed migration in both directions.
    var durations: [Int] = []
    for _ in 0..<2 {
      let begin = ContinuousClock.now
      let run = try bench.moonbase(arguments())
      #expect(run.status == 0, "\(run.complaints)")
      let passed = (ContinuousClock.now - begin).components
      durations.append(Int(passed.seconds) * 1_000_000 + Int(passed.attoseconds / 1_000_000_000_000))
    }
    for cycle in 0..<Self.cycles {
      let was = try isNew()
      let victim = try ChildProcess(Workbench.command, arguments(), in: bench.folder)
      usleep(UInt32(clamping: random.next(durations[was ? 1 : 0] * 5 / 4 + 1)))
      victim.kill()
      try look("cycle \(cycle)")
    }
    // The next migration removes files left by killed processes.
    for _ in 0..<2 {
      let run = try bench.moonbase(arguments())
      #expect(run.status == 0, "\(run.complaints)")
      try look("the last")
      #expect(
        try bench.names().filter { !$0.hasPrefix(".") } == ["m.lua", "new.lua", "old.lua", "s.sqlite"])
    }
  }

  private func look(_ what: String) throws {
    let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
    #expect(try raw.text("PRAGMA integrity_check") == "ok", "\(what)")
    #expect(try raw.integer("SELECT COUNT(*) FROM ZORDER WHERE ZN BETWEEN 1 AND 100") == 100, "\(what)")
    #expect(
      try raw.integer("SELECT COUNT(*) FROM ZLINE l JOIN ZORDER o ON o.Z_PK = l.ZORDER AND o.ZN = l.ZN") == 500,
      "\(what)")
    if try isNew() {
      #expect(try raw.integer("SELECT COUNT(*) FROM ZORDER WHERE ZDOUBLE = 2 * ZN") == 100, "\(what)")
    }
    let count = try bench.intactScans(of: raw, where: "1", what)
    #expect(count == 10, "\(what)")
  }
}
