import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Processes killed while they save to one store, repeatedly; `MOONBASE_CYCLES` sets the number of kills
/// (`scripts/crash`).
@Suite(.serialized) struct KilledWriterTests {
  private static let cycles = Repetition.killedWriters.count

  private static let model = """
    return { entities = {
      Order = {
        attributes = { n = "integer64", scan = { "binary", external_storage = true } },
        relationships = { lines = { to_many = "Line", inverse = "order", delete = "cascade" } },
      },
      Line = { attributes = { n = "integer64" }, relationships = { order = { to = "Order", inverse = "lines" } } },
      Event = { attributes = { n = "integer64" } },
      Mark = { attributes = { n = "integer64", i = "integer64" } },
    } }
    """

  /// Each save inserts an order with five lines and twenty events, for every third order a scan in an external file,
  /// and deletes the order before the last thirty. After every tenth save a batch deletes all events so far, and
  /// thousands of marks replace the previous ones. Each printed line is a completed step.
  private static let writer = """
    local c = moonbase.context
    local function say(...) io.write(...) io.write("\\n") io.stdout:flush() end
    local last = c:fetch("Order"):sort("-n"):first()
    local n = last and last.n or 0
    while true do
      n = n + 1
      local order = c:insert("Order", { n = n })
      if n % 3 == 0 then order.scan = string.rep(string.char(n % 256), 150000) end
      for _ = 1, 5 do c:insert("Line", { n = n, order = order }) end
      for _ = 1, 20 do c:insert("Event", { n = n }) end
      for old in c:fetch("Order"):where("n <= %@", n - 30):each() do c:delete(old) end
      assert(c:save())
      say("saved ", n)
      if n % 10 == 0 then
        assert(c:fetch("Event"):where("n <= %@", n):batch_delete())
        say("deleted ", n)
        local i = 0
        assert(c:batch_insert("Mark", function()
          i = i + 1
          return i <= 3000 and { n = n, i = i } or nil
        end))
        say("marked ", n)
        assert(c:fetch("Mark"):where("n < %@", n):batch_delete())
      end
    end
    """

  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
    try bench.write(Self.writer, to: "writer.lua")
  }

  @Test func noAcknowledgedSaveIsLostAndNoneIsHalfThere() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    var known = Acknowledged()
    for cycle in 0..<Self.cycles {
      let victim = try bench.begin("run", "--store", "s.sqlite", "--model", "m.lua", "writer.lua")
      // Some processes are killed while they make or open the store or soon after, most during saves, however slow the
      // machine is.
      if cycle % 10 > 3 { while victim.isRunning, victim.output.isEmpty { usleep(1000) } }
      usleep(UInt32(random.next(cycle % 10 == 0 ? 80_000 : cycle % 10 == 5 ? 2_000_000 : 200_000)))
      try #require(victim.isRunning, "\(victim.outcome().complaints)")
      victim.kill()
      known.hear(victim.output)
      try look(known, "cycle \(cycle)")
    }
    #expect(known.saved > Self.cycles / 2, "\(known)")
    // Ten saves precede the first deletion.
    if TestLength.isLong { #expect(known.deleted > 0 && known.marked > 0, "\(known)") }
  }

  /// The steps that writers reported.
  private struct Acknowledged {
    var saved = 0
    var deleted = 0
    var marked = 0

    mutating func hear(_ output: String) {
      // An incomplete line is no report.
      for line in output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        let words = line.split(separator: " ")
        guard words.count == 2, let number = Int(words[1]) else { continue }
        switch words[0] {
        case "saved": saved = max(saved, number)
        case "deleted": deleted = max(deleted, number)
        default: marked = max(marked, number)
        }
      }
    }
  }

  private func look(_ known: Acknowledged, _ what: String) throws {
    guard try bench.names().contains("s.sqlite") else { return #expect(known.saved == 0, "\(what)") }
    let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
    #expect(try raw.text("PRAGMA integrity_check") == "ok", "\(what)")
    guard try raw.integer("SELECT COUNT(*) FROM sqlite_master") ?? 0 > 0 else { return #expect(known.saved == 0) }
    let last = try raw.integer("SELECT MAX(ZN) FROM ZORDER") ?? 0
    #expect(last >= known.saved, "\(what)")
    // Orders are complete: the last thirty, each once, with five lines of their own.
    let whole = """
      SELECT COUNT(*) FROM ZORDER o WHERE ZN > \(last) - 30
      AND 5 = (SELECT COUNT(*) FROM ZLINE l WHERE l.ZORDER = o.Z_PK AND l.ZN = o.ZN)
      """
    let orders = min(last, 30)
    #expect(try raw.integer(whole) == orders, "\(what)")
    #expect(try raw.integer("SELECT COUNT(*) FROM ZORDER") == orders, "\(what)")
    #expect(try raw.integer("SELECT COUNT(*) FROM ZLINE") == 5 * orders, "\(what)")
    // Events are deleted up to the last reported batch, or up to one not yet reported; all later events exist.
    let first = try raw.integer("SELECT MIN(ZN) FROM ZEVENT") ?? last + 1
    #expect(first > known.deleted && (first - 1) % 10 == 0 || first == last + 1, "\(what): \(first)")
    #expect(try raw.integer("SELECT COUNT(*) FROM ZEVENT") == 20 * (last - first + 1), "\(what)")
    // Each set of marks is complete or absent.
    #expect(try raw.integer("SELECT COALESCE(MAX(ZN), 0) FROM ZMARK") ?? 0 >= known.marked, "\(what)")
    let halves = "SELECT ZN FROM ZMARK GROUP BY ZN HAVING COUNT(*) <> 3000 OR COUNT(DISTINCT ZI) <> 3000"
    #expect(try raw.integer("SELECT COUNT(*) FROM (\(halves))") == 0, "\(what)")
    for table in ["ZORDER", "ZLINE", "ZEVENT", "ZMARK"] {
      let name = table.dropFirst().capitalized
      let greatest = try raw.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'") ?? 0
      #expect(try raw.integer("SELECT COALESCE(MAX(Z_PK), 0) FROM \(table)") ?? 0 <= greatest, "\(what)")
    }
    try lookAtScans(raw, what)
  }

  private func lookAtScans(_ raw: Connection, _ what: String) throws {
    let count = try bench.intactScans(of: raw, where: "ZN % 3 = 0", what)
    #expect(try raw.integer("SELECT COUNT(*) FROM ZORDER WHERE ZN % 3 = 0") == Int64(count), "\(what)")
  }
}
