import MoonbaseScripting
import Testing

/// What an extension must not say of a model: found at load, with file, line and advice.
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

  /// Transformable or not: what is computed and stored is assigned by its `set`, or not at all.
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
