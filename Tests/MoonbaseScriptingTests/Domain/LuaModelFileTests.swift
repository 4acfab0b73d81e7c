import MoonbaseLua
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseScripting
import Testing

/// Models written in Lua.
@Suite struct LuaModelFileTests {
  private static let text = """
    return {
      version = "1",
      entities = {
        Person = {
          attributes = {
            firstName = "string",
            lastName  = { "string", optional = false, min_length = 1, max_length = 80, default = "a\\\\b\\"c" },
            age       = { "integer16", optional = false, default = 0, min = 0, max = 150 },
            born      = { "date", min = "1850-01-01", default = "2001-01-01T12:00:00.250Z" },
            kind      = { "string", one_of = { "friend", "colleague" } },
            score     = { "decimal", default = "1.5" },
            weight    = { "double", default = 70 },
            ["end"]   = { "boolean", default = true, rules = { { "SELF == TRUE", "must be" } } },
            home      = { "uri", default = "https://a.b/" },
            color     = { "transformable", transformer = "ColorTransformer", class = "Color" },
            bounds    = { "undefined", transient = true },
          },
          relationships = {
            department = { to = "Department", inverse = "people", delete = "deny" },
            friends    = { to_many = "Person", inverse = "friends", ordered = true, max = 500 },
          },
          fetched_properties = { recent = { "Person", "born > $FETCH_SOURCE.born", sort = { "-born" } } },
          constraints = { { "firstName", "lastName" } },
          indexes = { byAge = { "-age", "lastName" } },
          user_info = { a = 1, b = { "x", "y" }, c = { d = true } },
        },
        Employee = { parent = "Person", renamed_from = "Worker" },
        Department = { relationships = { people = { to_many = "Person", inverse = "department" } } },
      },
      fetch_requests = { olderThan = { "Person", "age > $AGE", limit = 5 } },
      configurations = { Local = { "Person", "Employee", "Department" } },
    }
    """

  private func read(_ text: String) throws -> ManagedObjectModel {
    try LuaModelFile().read(ModelSource(Data(text.utf8), name: "model.lua"))
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    let model = try read(Self.text)
    _ = try model.resolved()
    let again = try read(model.luaSource())
    for (left, right) in zip(model.entities, again.entities) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
    }
    #expect(again == model)
    #expect(try again.luaSource() == model.luaSource())
  }

  @Test func whatIsWrittenOnOneLineKeepsItsOrder() throws {
    let model = try read(
      "return { entities = { B = { attributes = { z = 'string', a = 'string' }, indexes = { y = { 'z' }, b = { 'a' } } }, A = {} } }"
    )
    #expect(model.entities.map(\.name) == ["B", "A"])
    #expect(model.entities[0].attributes.map(\.name) == ["z", "a"])
    #expect(model.entities[0].indexes.map(\.name) == ["y", "b"])
    #expect(try read(model.luaSource()) == model)
  }

  @Test func theOrderOfIndexesIsNoDifference() throws {
    let one = try read(
      "return { entities = { A = { attributes = { x = 'string' }, indexes = { i = { 'x' }, j = { '-x' } } } } }")
    let other = try read(
      "return { entities = { A = { attributes = { x = 'string' }, indexes = { j = { '-x' }, i = { 'x' } } } } }")
    #expect(ModelDifference(from: one, to: other).isEmpty)
  }

  @Test func aNameThatIsGivenTwiceIsAMistake() {
    let text = """
      return { entities = {
        A = { attributes = { x = "strng", y = "string", ["y"] = "date" } },
        B = {},
        A = {},
      } }
      """
    let error = #expect(throws: ModelError.self) { try read(text) }
    #expect(
      error?.all.map { "\($0)".prefix(48) }.sorted() == [
        "model.lua:2: entities.A.attributes.y is given tw",
        "model.lua:4: entities.A is given twice, first in",
      ])
  }

  @Test func aModelFileReturnsATable() {
    let error = #expect(throws: ModelError.self) { try read("return 5") }
    #expect(error?.message == "a model file returns a table; this one returns a number")
  }

  @Test func aMistakeNamesFileAndLine() {
    let wrong = Self.text.replacingOccurrences(of: "\"integer16\", optional", with: "\"integer16\", optionl")
    let error = #expect(throws: ModelError.self) { try read(wrong) }
    #expect(
      error?.description
        == "model.lua:8: entity Person, attribute age: there is no key optionl; did you mean optional?")
  }

  @Test(arguments: [true, false])
  func aModelThatIsResolvedForARunSaysHowTheRunEnded(_ isInterruption: Bool) throws {
    let text =
      "local e = {} for i = 1, 50 do e['E' .. i] = { attributes = { a = 'string' } } end return { entities = e }"
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: text))
    let state = try LuaState(limits: LuaLimits(instructions: 1_000_000))
    let error = #expect(throws: ModelError.self) {
      try state.run {
        if isInterruption { state.interrupter.interrupt() } else { state.charge(2_000_000) }
        _ = try model.resolved()
      }
    }
    #expect(error?.code == (isInterruption ? .interrupted : .limitExceeded))
    #expect(error.map { ScriptRunner.status(of: $0) } == (isInterruption ? 130 : 3))
  }
}
