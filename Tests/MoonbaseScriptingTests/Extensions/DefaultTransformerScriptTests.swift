import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Transformable attributes with the default transformer, in scripts.
@Suite struct DefaultTransformerScriptTests {
  private static let model = """
    return { entities = { P = { attributes = {
      s = "string", bin = "binary", tags = "transformable", kept = { "transformable", transformer = "NSSecureUnarchiveFromData" },
    } } } }
    """

  @Test(arguments: StoreKind.allCases) func tablesAreKeptWithoutAnyExtension(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind, model: Self.model, extensions: []).lines(
      """
      local p = context:insert("P", { tags = { "a", "b" }, kept = { x = 1.5, when = moonbase.date.unix(1), list = { true } } })
      assert(context:save())
      context:refresh(p, false)
      print(p.tags[2], p.kept.x, p.kept.when == moonbase.date.unix(1), p.kept.list[1])
      print(context.has_changes, context:fetch("P"):where("'b' IN tags"):count())
      print(pcall(function() p.tags = { p } end))
      """)
    #expect(lines.prefix(2) == ["b\t1.5\ttrue\ttrue", "false\t1"])
    #expect(lines.last?.hasPrefix("false\t") == true)
  }

  @Test func aShadowMayHaveTheDefaultTransformer() throws {
    let file = """
      return { name = 'x', entities = { P = { derived = {
        list = { shadow = 'bin', transformer = 'NSSecureUnarchiveFromData' } } } } }
      """
    let lines = try ScriptBench(.memory, model: Self.model, extensions: [file]).lines(
      "local p = context:insert('P', { list = { 1, 2 } }) assert(context:save()) context:refresh(p, false) print(p.list[2], #p.bin > 8)"
    )
    #expect(lines == ["2\ttrue"])
  }

  @Test(arguments: ["NSNegateBoolean", "NSIsNil", "NSIsNotNilTransformerName"])
  func transformersThatMakeNoBytesAreRefused(_ name: String) {
    let model = Self.model.replacing("NSSecureUnarchiveFromData", with: name)
    #expect {
      try ScriptBench(.memory, model: model, extensions: [])
    } throws: {
      let error = $0 as? ModelError
      return error?.code == .invalidModel && error?.property == "kept"
        && error?.message.contains("transformer \(name) makes a truth value and no bytes") == true
    }
  }

  @Test func oneWithoutReverseInTheDefaultsPlaceIsRefused() {
    let file =
      "return { name = 'x', transformers = { NSSecureUnarchiveFromData = { transform = function(v) return 'x' end } } }"
    #expect {
      try ScriptBench(.memory, model: Self.model, extensions: [file])
    } throws: {
      "\($0)".contains("transformer NSSecureUnarchiveFromData has no reverse to read what it saves for P.tags")
    }
  }

  /// A value that contains itself many times is converted in its expanded form, whose size is charged.
  @Test func aValueThatUnfoldsEndsWithTheMemoryOfTheRun() throws {
    let outcome = try ScriptBench(.memory, model: Self.model, extensions: []).run(
      """
      local t = "x"
      for i = 1, 7 do t = { t, t, t, t, t, t, t, t, t, t } end
      moonbase.context:insert("P").tags = t
      """, limits: LuaLimits(memory: 16 << 20))
    #expect(outcome.status == 3, "\(outcome)")
  }
}
