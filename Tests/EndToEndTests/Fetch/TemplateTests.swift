import MoonbaseTestSupport
import Testing

/// The option `--template` with its variables, and `--tree`.
@Suite struct TemplateTests {
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
          Person = { attributes = { name = "string", age = "integer16" }, relationships = {
            friends = { to_many = "Person", inverse = "friends" } } },
          Place = { attributes = { name = "string" } },
        }, fetch_requests = { older = { "Person", "age > $AGE AND name != $NAME" } } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      local ann = c:insert("Person", { name = "Ann\\nof \\27[2JX", age = 30 })
      c:insert("Person", { name = "Bob", age = 40 }).friends:add(ann)
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  @Test func messagesNameTheTemplateAndWhatItTakes() throws {
    let bench = try bench()
    let cases: [([String], String)] = [
      (["older"], "the template older has no value for AGE, NAME: add --param AGE=VALUE --param NAME=VALUE"),
      (
        ["older", "--param", "AGE=1"],
        "no value for NAME: add --param NAME=VALUE; it takes AGE (integer16), NAME (string)"
      ),
      (
        ["older", "--param", "AGE=x", "--param", "NAME=y"], "the template older: impossible comparison: age is a number"
      ),
      (["older", "--param", "AGES=1"], "the template older has no variable AGES; did you mean AGE?: it takes AGE"),
      (["oldr"], "no fetch request template oldr; did you mean older?: it has older"),
    ]
    for (words, message) in cases {
      let outcome = try bench.moonbase(["fetch", "Person", "s.sqlite", "--template"] + words)
      #expect(outcome.status != 0 && outcome.complaints.contains(message), "\(words): \(outcome)")
    }
    let other = try bench.moonbase("fetch", "Place", "s.sqlite", "--template", "older")
    #expect(other.complaints.contains("the template older is of Person, not of Place"), "\(other)")
    let unknown = try bench.moonbase("fetch", "Persn", "s.sqlite", "--template", "older")
    #expect(unknown.complaints.contains("no entity Persn; did you mean Person?"), "\(unknown)")
    let found = try bench.moonbase(
      "fetch", "Person", "s.sqlite", "--template", "older", "--param", "AGE=35", "--param", "NAME=x", "--columns",
      "name",
      "--format", "csv")
    #expect(found.output == "name\nBob\n", "\(found)")
  }

  @Test func valuesBreakNoLinesOfATree() throws {
    let tree = try bench().moonbase("fetch", "Person", "s.sqlite", "--tree", "friends", "--sort", "age")
    let lines = tree.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(tree)")
    #expect(!tree.output.contains("\u{1b}"), "\(tree)")
    #expect(lines.first?.contains(#"Ann\nof "#) == true, "\(tree)")
  }
}
