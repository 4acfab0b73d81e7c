import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The preset `pure` writes nothing, in any way.
@Suite struct PureRunTests {
  @Test func neitherTheStoreOfTheRunNorOneThatIsOpenedIsWritten() throws {
    let bench = try Workbench.withItems(2)
    let before = try bench.contents()
    for code in [
      "moonbase.context:insert('Item', { n = 3 }) assert(moonbase.context:save())",
      "assert(moonbase.context:fetch('Item'):batch_update { n = '7' })",
      "assert(moonbase.context:batch_insert('Item', { { n = 1 } }))",
      "local c = moonbase.open { store = 's.sqlite' }.context c:insert('Item', { n = 3 }) assert(c:save())",
      "moonbase.open { store = 'new.sqlite', model = 'm.lua' }",
    ] {
      let outcome = try bench.moonbase("run", "--sandbox", "pure", "--store", "s.sqlite", "-e", code)
      #expect(outcome.status == 1, "\(code): \(outcome)")
      #expect(try bench.contents() == before, "\(code)")
    }
    let missing = try bench.moonbase("run", "--sandbox", "pure", "--store", "new.sqlite", "--model", "m.lua", "-e", "")
    #expect(missing.status == 1, "\(missing)")
    let read = try bench.moonbase(
      "run", "--sandbox", "pure", "--store", "s.sqlite", "-e",
      "print(moonbase.context:fetch('Item'):count(), moonbase.open { store = 's.sqlite' }.context:fetch('Item'):count())"
    )
    #expect(read.output == "2\t2\n", "\(read)")
    #expect(try bench.contents() == before)
    // An in-memory store is no file.
    let memory = try bench.moonbase(
      "run", "--sandbox", "pure", "--model", "m.lua", "-e",
      "moonbase.context:insert('Item', { n = 3 }) assert(moonbase.context:save()) print(moonbase.context:fetch('Item'):count())"
    )
    #expect(memory.output == "1\n", "\(memory)")
  }

  @Test(arguments: [
    ["each", "Item", "--do", "object.n = 5"], ["batch", "run", "j.lua"], ["batch", "resume", "j.lua"],
    ["import", "Item", "i.csv"],
  ]) func aCommandThatWritesIsRefused(_ arguments: [String]) throws {
    let bench = try Workbench.withItems(2)
    try bench.write("n\n5\n", to: "i.csv")
    let before = try bench.contents()
    let outcome = try bench.moonbase(arguments + ["--sandbox", "pure", "--store", "s.sqlite"])
    #expect(outcome.status == 2 && outcome.complaints.contains("--sandbox pure writes nothing"), "\(outcome)")
    #expect(try bench.contents() == before)
  }
}
