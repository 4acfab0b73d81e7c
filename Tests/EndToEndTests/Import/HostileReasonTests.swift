import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Error texts of scripts about rows and objects may have any length: only the beginning is reported and kept.
@Suite struct HostileReasonTests {
  @Test func reasonsOfRejectedRowsAreCut() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\n" + (0..<40).map { "p\($0)\n" }.joined(), to: "p.csv")
    try bench.write("return { row = function(row) return nil, row.name .. ('x'):rep(1 << 22) end }", to: "map.lua")
    _ = try bench.imports(["Person", "p.csv", "--map", "map.lua", "--limit-memory", "64M"], status: 4)
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.utf8.count < 40 * 5000)
    #expect(rejects.contains("p39xxx") && rejects.contains("xxx…"))
  }

  @Test func manyReasonsCountForTheMemoryLimit() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\n" + (0..<20_000).map { "p\($0)\n" }.joined(), to: "p.csv")
    try bench.write(
      "local reason = ('x'):rep(1 << 13) return { row = function(row) return nil, reason end }", to: "map.lua")
    let outcome = try bench.imports(
      ["Person", "p.csv", "--map", "map.lua", "--batch", "1000000", "--limit-memory", "32M"], status: 3)
    #expect(outcome.complaints.contains("memory"), "\(outcome)")
  }

  @Test(arguments: [
    "error(('x'):rep(1 << 22) .. object.n)", "error({ message = ('x'):rep(1 << 22) .. object.n })",
    "object.n = -1", "object.n = -2",
  ]) func errorsOfObjectsAreCut(_ code: String) throws {
    let bench = try Workbench.withItems(3)
    try bench.write(
      """
      return { entities = { Item = {
        validate = { n = function(n) return n ~= -1, ("x"):rep(1 << 22) end },
        will_save = function(object) if object.n == -2 then error(("x"):rep(1 << 22)) end end,
      } } }
      """, to: "e.lua")
    let outcome = try bench.moonbase(
      "each", "Item", "--store", "s.sqlite", "--extension", "e.lua", "--limit-memory", "64M", "--do", code)
    #expect(outcome.status == 4, "\(outcome.complaints.prefix(500))")
    #expect(outcome.complaints.utf8.count < 50_000 && outcome.complaints.contains("xxx…"))
  }
}
