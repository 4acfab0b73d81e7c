import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Child contexts and further contexts that scripts make.
@Suite struct ChildContextTests {
  @Test(arguments: StoreKind.allCases) func aChildSavesIntoItsParent(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local p = context:insert("Person", { firstName = "Ann", age = 1 })
      assert(context:save())
      local child = context:child()
      local c = child:object(p:id())
      c.age = 2
      local new = child:insert("Person", { firstName = "Bob" })
      print(p.age, child.has_changes, context.has_changes, child.parent == context, context.parent)
      print(#child.inserted, #child.updated, #child.deleted, child.inserted[1] == new)
      print(child:save(), p.age, #context.inserted, context.updated[1] == p)
      child:close()
      print(pcall(child.insert, child, "Person"))
      print(pcall(function() return c.age end))
      assert(context:save())
      print(context:fetch("Person"):count())
      """)
    #expect(lines[0] == "1\ttrue\tfalse\ttrue\tnil")
    #expect(lines[1] == "1\t1\t0\ttrue")
    #expect(lines[2] == "true\t2\t1\ttrue")
    #expect(lines[3].hasPrefix("false\t") && lines[3].contains("closed"), "\(lines)")
    #expect(lines[4].hasPrefix("false\t"))
    #expect(lines[5] == "2")
  }

  @Test func changesOfAChildAreNotLostInSilence() throws {
    let bench = try ScriptBench()
    let outcome = try bench.run(
      """
      local child = moonbase.context:child()
      child:insert("Person", { firstName = "a" })
      child = nil
      collectgarbage()
      """)
    #expect(outcome.status == 0)
    #expect(outcome.message?.contains("1 changed object of a child context was not saved") == true, "\(outcome)")
  }

  /// A script cannot close the program's context; it can close children.
  @Test func aScriptClosesItsOwn() throws {
    let lines = try ScriptBench().lines(
      """
      local child = context:child()
      local grandchild = child:child()
      print(select(2, pcall(context.close, context)).message)
      child:close()
      child:close()
      print(select(2, pcall(grandchild.fetch, grandchild, "Person")).message)
      """)
    #expect(lines.count == 2 && lines[0].contains("the program's") && lines[1].contains("closed"), "\(lines)")
  }

  @Test func aChildOfAHookEndsWithTheHook() throws {
    let extensionText = """
      return { entities = { Person = { will_save = function(object)
        if object:is_inserted() then return end
        kept = object:context():child()
        kept:object(object:id())
        kept:insert("Person", {})
        print("in", kept.has_changes, pcall(kept.save, kept))
      end, did_save = function()
        if kept then print("after", select(2, pcall(kept.insert, kept, "Person")).message) end
      end } } }
      """
    let lines = try ScriptBench(extensions: [ScriptBench.colors, extensionText]).lines(
      """
      local p = context:insert("Person", { age = 3 })
      assert(context:save())
      p.age = 4
      assert(context:save())
      """)
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].hasPrefix("in\ttrue\ttrue\tnil\ta child context was saved while"), "\(lines)")
    #expect(lines[1].contains("closed"))
  }

  @Test(arguments: StoreKind.allCases) func whatAnotherContextSavedIsMerged(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      local p = context:insert("Person", { age = 1 })
      assert(context:save())
      local one, two = context:child(), context:child()
      local a, b = one:object(p:id()), two:object(p:id())
      print(a.age, b.age, two.automatically_merges)
      two.automatically_merges = true
      one:on("did_save", function(changes) print(#changes.updated, changes.updated[1] == a) two:merge_changes(changes) end)
      two:on("did_merge", function(changes) print("merged", changes.updated[1] == p:id(), b.age) end)
      a.age = 2
      print(one:save(), b.age)
      print(select(2, pcall(two.merge_changes, two, {})).message)
      """, leavingChanges: true)
    #expect(lines.first == "1\t1\tfalse")
    #expect(lines.contains("1\ttrue") && lines.contains("merged\ttrue\t2"), "\(lines)")
    #expect(lines.contains("true\t2"))
    #expect(lines.last?.contains("changes of another context") == true)
  }

  @Test(arguments: StoreKind.allCases) func aContextListsItsObjectsAndItsMetadata(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local p, q = context:insert("Person", { age = 1 }), context:insert("Person", { age = 2 })
      local first, second = context:obtain_permanent_ids(p, q)
      print(first == p:id(), tostring(second):match("/p%d+$") ~= nil, #context.registered)
      assert(context:save())
      context:delete(p)
      q.age = 3
      print(#context.inserted, #context.updated, #context.deleted, context.deleted[1] == p)
      context:refresh_all()
      print(q.age, context.staleness)
      context.staleness = 5
      print(context.staleness, context:set_metadata { origin = "here", count = 3 })
      print(context.metadata.origin, context.metadata.count, context.has_changes)
      print(context:set_metadata { count = moonbase.null }, context.metadata.count, context.metadata.origin)
      print(select(2, pcall(context.set_metadata, context, { NSStoreUUID = "x" })).message)
      """, leavingChanges: true)
    #expect(lines[0] == "true\ttrue\t2")
    #expect(lines[1] == "0\t1\t1\ttrue")
    #expect(lines[2] == "3\t-1.0")
    #expect(lines[3] == "5.0\ttrue")
    #expect(lines[4] == "here\t3\ttrue")
    #expect(lines[5] == "true\tnil\there")
    #expect(lines[6].contains("do not begin with NS"))
  }
}
