import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Random edits beside derived attributes of an extension in Lua: on demand, pre-calculated, stored and pure, over
/// attributes, to-one and to-many relationships, aggregates and other derived attributes. Each is what its function
/// gives from scratch.
@Suite struct RandomDerivedScriptTests {
  private static let model = """
    return { entities = {
      Person = {
        attributes = { name = "string", age = "integer16", saved = "string", own = "string" },
        relationships = {
          team = { to = "Team", inverse = "members" }, friends = { to_many = "Person", inverse = "friends" } } },
      Team = {
        attributes = { title = "string", saved = "string" },
        relationships = { members = { to_many = "Person", inverse = "team" } } },
    } }
    """

  private static let file = """
    local function label(name, age) return (name or "-") .. ":" .. (age or 0) end
    local function joined(list)
      local names = {}
      for i = 1, #list do names[i] = list[i] == moonbase.null and "-" or list[i] or "-" end
      table.sort(names)
      return table.concat(names, ",")
    end
    local function names(members)
      local list = {}
      for member in members:each() do list[#list + 1] = member.name or "-" end
      return joined(list)
    end
    return { name = "x", entities = {
      Person = { derived = {
        label = { type = "string", inputs = { "name", "age" }, get = label },
        pure = { type = "string", inputs = { "name" }, pure = true, get = function(name) return name and name .. "!" end },
        early = { type = "string", inputs = { "name", "age" }, read = "pre_calculated", get = label },
        place = { type = "string", get = function(p) return p.team and (p.team.title or "untitled") or "nowhere" end },
        crowd = { type = "string", get = function(p) return names(p.friends) end },
        chain = { type = "string", inputs = { "label", "place" }, get = function(a, b) return a .. "@" .. b end },
        own = { stored = true, inputs = { "name", "age" }, get = label },
        saved = { stored = true, inputs = { "name", "age", "team.title" }, object = true,
          get = function(name, age, title, person)
            return label(name, age) .. "/" .. (person.team and (title or "untitled") or "nowhere")
          end },
      } },
      Team = { derived = {
        roll = { type = "string", get = function(t) return names(t.members) end },
        total = { type = "integer64", inputs = { "members.@sum.age" }, get = function(sum) return sum or 0 end },
        deep = { type = "string", get = function(t)
          local list = {}
          for member in t.members:each() do list[#list + 1] = member.label end
          return joined(list)
        end },
        saved = { stored = true, inputs = { "members.@sum.age", "members.name" }, object = true,
          get = function(sum, _, team) return names(team.members) .. "/" .. (sum or 0) end },
      } },
    } }
    """

  @Test(arguments: StoreKind.allCases) func everyValueIsWhatIsComputedFromScratch(_ kind: StoreKind) throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Domain/Scripts/derived.lua")
    let text = try String(contentsOf: script, encoding: .utf8)
    let bench = try ScriptBench(kind, model: Self.model, extensions: [Self.file])
    let count = Repetition.derivedSequences.seeds
    let outcome = try bench.run(text, arguments: ["\(TestLength.firstSeed ?? 1)", "\(count)"])
    #expect(outcome.status == 0 && bench.output == "done\n", "\(outcome) \(bench.output)")
  }
}
