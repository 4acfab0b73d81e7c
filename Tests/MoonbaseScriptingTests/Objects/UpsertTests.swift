import MoonbaseTestSupport
import Testing

/// `upsert` and its arguments.
@Suite struct UpsertTests {
  @Test(arguments: StoreKind.allCases) func keyNamedTwiceIsOneKey(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local a = context:upsert("P", { "s", "s" }, { s = "a", i = 1 })
      print(a == context:upsert("P", { "s", "s" }, { s = "a", i = 2 }), a.i)
      """, leavingChanges: true)
    #expect(lines == ["true\t2"])
  }

  @Test(arguments: StoreKind.allCases) func keySharedByManyRowsFindsOneOfThem(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      for i = 1, 600 do context:insert("P", { s = "a", i = i }) end
      assert(context:save())
      for i = 1, 3 do context:insert("P", { s = "a", i = i }) end
      local list = context:upsert("P", { "s" }, { { s = "a", d = 1 }, { s = "a", d = 2 }, { s = "b" } })
      print(#list, list[1].s, list[2].s, list[3]:is_inserted())
      """, leavingChanges: true)
    #expect(lines == ["3\ta\ta\ttrue"])
  }

  @Test(arguments: StoreKind.allCases) func valuesWithoutTheKeyAreRefused(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local p = context:insert("P", { i = 1 })
      for _, values in ipairs { { i = 2 }, { { i = 2 } }, {} } do
        local ok, err = pcall(context.upsert, context, "P", { "s" }, values)
        print(ok, err.entity, err.key, err.message:match("the values have no s, which is a key") ~= nil)
      end
      print(p.i, context:fetch("P"):count(), context:upsert("P", { "s" }, { s = moonbase.null, i = 3 }) == p)
      print(pcall(context.upsert, context, "P", { "s", 1 }, { s = "a" }))
      print(pcall(context.upsert, context, "P", { "nosuch" }, { s = "a" }))
      """, leavingChanges: true)
    let refusal = "false\tP\ts\ttrue"
    #expect(Array(lines.prefix(4)) == [refusal, refusal, refusal, "1\t1\ttrue"])
    #expect(lines[4].contains("a list of property names is expected"))
    #expect(lines[5].contains("has no property nosuch"))
  }
}
