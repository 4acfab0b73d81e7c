import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Contradictions between an extension and its model are found when it is loaded, with file, line and advice.
@Suite struct ExtensionCheckTests {
  private func refusal(_ hooks: String, beside: String = ThingBench.transformer, before: String = "") -> String {
    do {
      _ = try ThingBench.bench(hooks, beside: beside, before: before)
      return "no error"
    } catch {
      return "\(error)"
    }
  }

  @Test func derivedAttributeOverAPersistentOneIsStored() throws {
    let refused = refusal("derived = {\n s = { inputs = { 'i' }, get = function(i) return 'x' .. i end } }")
    #expect(refused.hasPrefix("extension1.lua:2: P.s is a persistent attribute"), "\(refused)")
    #expect(refused.contains("add stored = true"))
    let lines = try ThingBench.bench(
      "derived = { s = { stored = true, inputs = { 'i' }, get = function(i) return 'x' .. i end } }"
    )
    .lines(
      "context:insert('P', { i = 1 }) assert(context:save()) print(context:fetch('P'):where(\"s = 'x1'\"):count())")
    #expect(lines == ["1"])
  }

  @Test func aStoredAttributeThatNothingTurnsIntoBytesIsRefused() throws {
    #expect {
      try ScriptBench(
        .memory, model: ThingBench.model,
        extensions: [
          "return { name = 'x', entities = { P = { derived = { tr = {\nstored = true, get = function() return { 1 } end } } } } }"
        ])
    } throws: {
      let text = "\($0)"
      return text.hasPrefix("extension1.lua:2: P.tr is stored, and nothing here can turn its values into bytes")
        && text.contains("load an extension that has transformer T")
    }
    let beside = refusal("derived = {\n sum = { stored = true,\n transformer = 'T', get = function() return 1 end } }")
    #expect(beside.hasPrefix("extension1.lua:3: "), "\(beside)")
    #expect(beside.contains("derived.sum.transformer: a transformer goes with a shadow"), "\(beside)")
  }

  /// A transformable attribute without a named transformer has Core Data's default, which an extension may replace.
  @Test func aStoredAttributeMayHaveTheDefaultTransformer() throws {
    let model = ThingBench.model.replacing(
      "tr = { \"transformable\", transformer = \"T\" }", with: "tr = \"transformable\"")
    let file = """
      return { name = 'x',
        transformers = { NSSecureUnarchiveFromData = {
          transform = function(v) return v[1] end, reverse = function(b) return { b } end } },
        entities = { P = { derived = { tr = { stored = true, inputs = { "s" }, get = function(s) return { s } end } } } },
      }
      """
    let lines = try ScriptBench(.memory, model: model, extensions: [file]).lines(
      "local p = context:insert('P', { s = 'a' }) assert(context:save()) context:refresh(p, false) print(p.tr[1])")
    #expect(lines == ["a"])
  }

  @Test func aRelationshipHasNoValueClass() {
    let refused = refusal(
      "",
      beside: "classes = { Color = Color }, " + ThingBench.transformer + "\nvalue_classes = { P = {\n q = 'Color' } },",
      before: "local Color = {}")
    #expect(refused.hasPrefix("extension1.lua:3: P.q is a relationship, whose values are objects"), "\(refused)")
  }

  @Test func anExtensionWithoutAnyModelSaysWhatIsMissing() {
    let file = "return { entities = { P = { validate = {} } } }"
    #expect {
      try ScriptExtensions([.text(file, name: "x.lua")], for: ManagedObjectModel())
    } throws: {
      "\($0)".contains("the model has no entity P, nor any other: name the model that the extension is for")
    }
  }

  @Test func shadowOverAPersistentAttributeIsRefused() {
    let refused = refusal("derived = {\n s = { shadow = 'bin', transformer = 'T' } }")
    #expect(refused.hasPrefix("extension1.lua:2: P.s is a persistent attribute"), "\(refused)")
  }

  @Test func oneWayTransformerOfWhatIsSavedIsRefused() {
    let oneWay = "\ntransformers = {\n T = { transform = function(v) return v end } },\n"
    let refused = refusal("", beside: oneWay)
    #expect(refused.hasPrefix("extension1.lua:3: transformer T has no reverse"), "\(refused)")
    #expect(refused.contains("P.tr") && refused.contains("give it a function reverse"))
    let shadow = refusal(
      "derived = {\n shown = { shadow = 'bin',\n transformer = 'U' } }",
      beside: "transformers = { T = { transform = print, reverse = print }, U = { transform = print } },")
    #expect(shadow.hasPrefix("extension1.lua:3: transformer U has no reverse"), "\(shadow)")
    #expect(shadow.contains("P.shown, whose shadow bin is saved"))
  }

  @Test func classNamesThatNothingProvidesAreRefused() {
    let classes = "classes = { Color = Color }, " + ThingBench.transformer
    let before = "local Color = {}"
    let misspelt = refusal("", beside: classes + "\nvalue_classes = { P = {\n tr = 'Colour' } },", before: before)
    #expect(misspelt.hasPrefix("extension1.lua:3: P.tr: no extension provides class Colour"), "\(misspelt)")
    #expect(misspelt.contains("did you mean Color?"))
    let fine = refusal("", beside: classes + "\nvalue_classes = { P = {\n tr = 'Color' } },", before: before)
    #expect(fine == "no error")
    let transformer = "transformers = { T = {\n class = 'Colour', transform = print, reverse = print } },"
    let ofTransformer = refusal("", beside: "classes = { Color = Color }, " + transformer, before: before)
    #expect(
      ofTransformer.hasPrefix("extension1.lua:2: transformer T: no extension provides class Colour"), "\(ofTransformer)"
    )
  }

  /// Mistakes in derived attributes, rules and classes: each message names the attribute and the most similar name.
  @Test(arguments: [
    ("derived = {\n x = { inputs = { 'ss' }, get = print } }", "P.x: the input ss: P has no property ss; did you mean"),
    ("derived = {\n x = { inputs = { 'q.ii' }, get = print } }", "P.x: the input q.ii: P has no property ii"),
    ("derived = {\n x = { inputs = { 'qs.@som.i' }, get = print } }", "P.x: the input qs.@som.i: "),
    (
      "derived = {\n x = { type = 'double', pure = true, inputs = { 'qs.i' }, get = print } }",
      "P.x: the input qs.i leads to several values, and a pure attribute takes single ones"
    ),
    (
      "derived = {\n x = { type = 'double', pure = true, object = true, inputs = { 'i' }, get = print } }",
      "object = true gives get the object behind the inputs, and a pure attribute is computed from its inputs alone"
    ),
    (
      "derived = {\n x = { shadow = 'bim', transformer = 'T' } }",
      "P.x, its shadow: P has no property bim; did you mean bin?"
    ),
    (
      "derived = {\n x = { shadow = 'bin', transformer = 'TT' } }",
      "P.x: no extension provides transformer TT; did you mean T?"
    ),
    ("derived = {\n q = { inputs = { 's' }, get = print } }", "P.q is a relationship of the model"),
    (
      "derived = {\n summ = { stored = true, inputs = { 's' }, get = print } }",
      "P.summ is to be stored, and the model has no such attribute; did you mean sum?"
    ),
    ("derived = {\n hash = { inputs = { 's' }, get = print } }", "no property may be called hash"),
    (
      "derived = {\n x = { type = 'strng', get = print } }",
      "entities.P.derived.x.type: strng is no attribute type; did you mean string?"
    ),
    (
      "derived = {\n x = { read = 'pre_calculate', get = print } }",
      "\"on_demand\" nor \"pre_calculated\"; did you mean pre_calculated?"
    ),
    ("derived = {\n x = { inputs = 's', get = print } }", "entities.P.derived.x.inputs: a list of strings is expected"),
    ("derived = {\n x = { input = {}, get = print } }", ".x.input: this key is unknown; did you mean inputs?"),
    ("derived = {\n x = { pure = true, get = print } }", "entities.P.derived.x.pure: a pure attribute must list"),
    ("validate = {\n ss = print }", "P has no property ss; did you mean s?"),
    ("normalize = {\n ss = print }", "P has no property ss; did you mean s?"),
    ("normalize = {\n s = 1 }", "entities.P.normalize.s: a function is expected, not a number"),
    ("validate_for_updat = print", "entities.P.validate_for_updat: this key is unknown; did you mean validate_for_"),
  ])
  func everyRefusalNamesFileEntityAndAttribute(_ hooks: String, _ message: String) throws {
    let refused = refusal(hooks)
    #expect(refused.hasPrefix("extension1.lua:\(hooks.contains("\n") ? 2 : 1): "), "\(refused)")
    #expect(refused.contains(message), "\(refused)")
    let error = #expect(throws: (any Error).self) { try ThingBench.bench(hooks) }
    let known: (String?, String?) =
      if let error = error as? ScriptError { (error.entity, error.property) } else {
        ((error as? ModelError)?.entity, (error as? ModelError)?.property)
      }
    #expect(known.0 == "P" && (known.1 != nil || !hooks.contains("\n")), "\(refused)")
  }

  /// A stored derived attribute, transformable or not, is assigned through its `set`, or not at all.
  @Test(arguments: ["tr", "full"]) func aStoredDerivedAttributeIsAssignedByItsSetterOrNotAtAll(_ name: String) throws {
    let derived = "stored = true, inputs = { 's' }, get = function(s) return s and s .. '!' end"
    let refused = try ThingBench.bench("derived = { \(name) = { \(derived) } }").lines(
      """
      local p = context:insert("P", { s = "a" })
      for _, set in ipairs { function() p.\(name) = "mine" end, function() context:insert("P", { \(name) = "mine" }) end } do
        local ok, err = pcall(set)
        print(ok, err.key, err.message:match("nothing says how to write it") ~= nil)
      end
      assert(context:save())
      print(p.\(name))
      p.s = "b"
      assert(context:save())
      context:refresh(p, false)
      print(p.\(name))
      """)
    #expect(refused == ["false\t\(name)\ttrue", "false\t\(name)\ttrue", "a!", "b!"])
    for write in ["", "write = 'delayed',"] {
      let set = "\(write) set = function(v, p) p.s = v and v:sub(1, -2) end"
      let lines = try ThingBench.bench("derived = { \(name) = { \(derived), \(set) } }").lines(
        """
        local p = context:insert("P", { \(name) = "a!" })
        print(p.\(name))
        assert(context:save())
        p.\(name) = "b!"
        assert(context:save())
        context:refresh(p, false)
        print(p.s, p.\(name))
        """)
      #expect(lines == ["a!", "b\tb!"], "\(write)")
    }
  }
}
