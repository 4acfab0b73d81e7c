import Testing

@Suite struct TransactionTests {
  @Test func bodyMayNotSaveByAnyWay() throws {
    for save in [
      "context:save()", "for p in context:fetch('P'):save_every(1):each() do p.i = 9 end",
      "context:transaction(function() end)",
    ] {
      let lines = try ThingBench.bench("").lines(
        """
        context:insert("P", { s = "a", i = 1 })
        context:insert("P", { s = "b", i = 1 })
        assert(context:save())
        local ok, err = context:transaction(function()
          context:insert("P", { s = "c" })
          \(save)
          error("late")
        end)
        print(ok, tostring(err):match("late"), context.has_changes, context:fetch("P"):where("i = 1"):count(),
          context:fetch("P"):count())
        print(context:transaction(function() context:insert("P") return 7 end))
        """, leavingChanges: true)
      #expect(lines == ["nil\tnil\tfalse\t2\t2", "true\t7"], "\(save)")
    }
  }
}
