import MoonbaseTestSupport
import Testing

/// Life cycle hooks in scripts.
@Suite struct ScriptLifecycleTests {
  @Test(arguments: StoreKind.allCases) func didSaveIsCalledForDeletedObjects(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind, "did_save = function(object) print(object.s, object:is_deleted()) end"
    ).lines(
      """
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      context:delete(p)
      assert(context:save())
      """)
    #expect(lines == ["a\tfalse", "a\ttrue"])
  }

  @Test(arguments: StoreKind.allCases) func awakeFromSnapshotIsToldWhatHappened(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      awake_from_snapshot = function(object, events)
        local names = {}
        for name in pairs(events) do names[#names + 1] = name end
        print(object.s, table.concat(names, " "))
      end
      """
    ).lines(
      """
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      p.s = "b"
      context:rollback()
      p.i = 1
      context:refresh(p, true)
      print(p.i, context:rollback())
      """)
    #expect(lines == ["a\trollback", "a\trefresh", "a\trollback", "1"])
  }

  @Test func anErrorOfAwakeFromSnapshotNamesTheHook() throws {
    let lines = try ThingBench.bench("awake_from_snapshot = function() error('no') end").lines(
      """
      local p = context:insert("P")
      assert(context:save())
      p.s = "b"
      print(pcall(context.rollback, context))
      print(context.has_changes)
      """)
    #expect(lines.first?.contains("P: awake_from_snapshot: extension1.lua:1: no") == true && lines.last == "false")
  }
}
