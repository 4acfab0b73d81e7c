import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Processes that change the same row at the same time.
@Suite struct ConflictingWriterTests {
  private static let saves = Repetition.conflictingSaves.count

  /// Counts up, and prints each save that failed because another process had changed the row.
  private static let counter = """
    local c = moonbase.context
    local conflicts = 0
    print("ready") io.stdout:flush() io.read("l")
    for _ = 1, tonumber(...) do
      while true do
        local counter = c:fetch("Counter"):first()
        counter.n = counter.n + 1
        local ok, err = c:save()
        if ok then break end
        if err.code ~= 133020 then error(err) end
        conflicts = conflicts + 1
        c:reset()
      end
      c:reset()
    end
    print("conflicts", conflicts)
    """

  @Test func ofAThousandConflictingSavesNoneIsSilent() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { Counter = { attributes = { n = 'integer64' } } } }", to: "m.lua")
    try bench.write(Self.counter, to: "counter.lua")
    let make = "moonbase.context:insert('Counter', { n = 0 }) assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", make).status == 0)
    let writers = try (0..<2).map { _ in
      try bench.begin("run", "--store", "s.sqlite", "counter.lua", "\(Self.saves)")
    }
    for writer in writers { try writer.wait(for: "ready") }
    for writer in writers { writer.say("go") }
    for writer in writers { #expect(try writer.end() == 0, "\(writer.outcome().complaints)") }
    let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
    #expect(try raw.integer("SELECT ZN FROM ZCOUNTER") == Int64(2 * Self.saves))
    // The insertion made version 1, and each acknowledged save one more; no other save did.
    #expect(try raw.integer("SELECT Z_OPT FROM ZCOUNTER") == Int64(2 * Self.saves + 1))
    let conflicts = try writers.map {
      try #require($0.output.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
    }
    #expect(conflicts.reduce(0, +) > 0, "they never met: \(conflicts)")
  }
}
