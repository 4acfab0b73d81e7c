import MoonbaseTestSupport
import Testing

/// Scripts that insert without a walk and save in the background.
@Suite struct SaveAheadTests {
  @Test(arguments: StoreKind.allCases) func chunksOfAnImportAreSavedAhead(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local first
      for number = 1, 450 do
        local p = context:insert("Person", { firstName = "p" .. number, age = 20 + number % 100 })
        first = first or p
        if number % 100 == 0 then assert(context:save_ahead()) end
      end
      print(first.firstName, context.has_changes, context:fetch("Person"):count())
      print(context:save(), context.has_changes, context:fetch("Person"):count())
      """)
    #expect(lines == ["p1\ttrue\t450", "true\tfalse\t450"])
  }

  /// The next call reports the error of a chunk, whose objects are still new.
  @Test(arguments: StoreKind.allCases) func aChunkThatIsRefusedIsToldAndKept(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local wrong = context:insert("Person", { firstName = "wrong", age = 700 })
      for number = 1, 100 do context:insert("Person", { firstName = "p", age = 30 }) end
      local saved, err = context:save_ahead()
      print(saved, tostring(err):find("age", 1, true) ~= nil, context.has_changes)
      wrong.age = 70
      print(context:save_ahead(), context:save(), context.has_changes)
      print(context:fetch("Person"):where("age = 70"):count(), context:fetch("Person"):count())
      """)
    #expect(lines == ["nil\ttrue\ttrue", "true\ttrue\tfalse", "1\t101"])
  }
}
