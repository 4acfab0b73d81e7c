import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Examples of transformers run in both directions when an extension is loaded.
@Suite struct TransformerExampleTests {
  private static let point = """
    local P = {} P.__index = P
    local function point(x, y) return setmetatable({ x = x, y = y }, P) end
    """

  private func load(_ examples: String, transform: String = "v.x .. ',' .. v.y", reverse: String? = nil) throws {
    let reverse = reverse ?? "local x, y = b:match('(.*),(.*)') return point(tonumber(x), tonumber(y))"
    _ = try ThingBench.bench(
      "",
      beside: """
        classes = { P = P }, transformers = { T = { class = "P",
        transform = function(v) return \(transform) end,
        reverse = function(b) \(reverse) end,
        examples = {
        \(examples) } } },
        """, before: Self.point.replacing("\n", with: " "))
  }

  @Test func examplesThatHoldAreNoConcern() throws {
    try load("{ point(1, 2), '1,2' }, { point(-3, 4), '-3,4' }")
    try load("")
  }

  @Test(arguments: [
    (
      "{ point(1, 2), '1,2' },\n{ point(1, 2), '1;2' }", 6,
      "example 2 of transformer T: transform gave \"1,2\", and the example says \"1;2\""
    ),
    ("{ point(1, 2) }", 5, "transformers.T.examples.1: an example has the form { value, bytes }"),
    ("{ point(1, 'a'), '1,a' }", 5, "example 1 of transformer T: reverse gave"),
    ("{ 1, '1,2' }", 5, "example 1 of transformer T: transform raised an error: extension1.lua:2: attempt to index"),
    (
      "{ { x = 1, y = 2 }, '1,2' }", 5,
      "example 1 of transformer T: its value is not of class P, the class of the transformer"
    ),
    ("x = 1", 4, "transformers.T.examples: a list of examples is expected"),
  ])
  func oneThatDoesNotHoldNamesItsLine(_ examples: String, _ line: Int, _ message: String) {
    let error = #expect(throws: ScriptError.self) { try load(examples) }
    #expect(error?.message.contains(message) == true, "\(error as Any)")
    #expect(error?.location?.line == line, "\(error as Any)")
  }

  @Test func bytesThatAreNoTextAreShownByTheirNumbers() {
    let error = #expect(throws: ScriptError.self) {
      try load("{ point(1, 2), '\\1\\2' }", transform: "string.pack('<dd', v.x, v.y)", reverse: "return point(1, 2)")
    }
    #expect(error?.message.contains("gave 16 bytes, 00 00 00") == true, "\(error as Any)")
    #expect(error?.message.hasSuffix("says 2 bytes, 01 02") == true, "\(error as Any)")
  }

  /// An endless example ends at the limits for extensions.
  @Test func anExampleIsBoundByTheLimits() {
    #expect(throws: ScriptError.self) {
      try ScriptBench(
        .memory, model: ThingBench.model,
        extensions: [
          "return { transformers = { T = { transform = function(v) while true do end end, reverse = print, examples = { { 1, '' } } } } }"
        ], limits: .init(instructions: 1_000_000))
    }
  }
}
