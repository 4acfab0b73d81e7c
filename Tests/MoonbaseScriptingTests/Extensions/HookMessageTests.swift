import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting
import Testing

/// Messages about mistakes in hooks name the hook, the file and the line, for every kind of hook.
@Suite struct HookMessageTests {
  private func message(_ entity: String, _ code: String) throws -> String {
    let bench = try ScriptBench(
      extensions: ["return { entities = { Person = {\n\(entity)\n} } }", ScriptBench.colors])
    return try bench.run("local context = moonbase.context\n\(code)\nassert(context:save())").message ?? ""
  }

  static let insert = "local p = context:insert('Person', { age = 1, lastName = 'a' })"

  static let slips: [(hook: String, code: String, message: String)] = [
    (
      "will_save = function(p) p.nme = 1 end", insert, "Person: will_save: extension1.lua:2: Person has no property nme"
    ),
    (
      "did_save = function(p) return p.nme end", insert,
      "Person: did_save: extension1.lua:2: Person has no property nme"
    ),
    (
      "awake_from_insert = function(p) p.nme = 1 end", insert,
      "Person: awake_from_insert: extension1.lua:2: Person has no property nme"
    ),
    (
      "prepare_for_deletion = function(p) p.nme = 1 end", "\(insert) context:delete(p)",
      "Person: prepare_for_deletion: extension1.lua:2: Person has no property nme"
    ),
    (
      "validate_for_insert = function(p) return p.nme end", insert,
      "Person: validate_for_insert: extension1.lua:2: Person has no property nme"
    ),
    (
      "validate = { age = function(v, p) return p.nme end }", insert,
      "Person.age: validate: extension1.lua:2: Person has no property nme"
    ),
    (
      "normalize = { age = function(v, p) return p.nme end }", insert,
      "Person.age: normalize: extension1.lua:2: Person has no property nme"
    ),
    (
      "derived = { x = { type = 'string', get = function(p) return p.nme end } }", "\(insert) print(p.x)",
      "Person.x: get: extension1.lua:2: Person has no property nme"
    ),
    (
      "derived = { x = { type = 'string', get = print, set = function(v, p) p.nme = v end } }",
      "\(insert) p.x = 'a'", "Person.x: set: extension1.lua:2: Person has no property nme"
    ),
    (
      "will_save = function(p) p.active = 1 end", insert,
      "Person: will_save: extension1.lua:2: Person.active: takes a boolean, not integer 1; give true or false"
    ),
  ]

  @Test(arguments: slips.indices) func aSlipInAHookNamesHookFileAndLine(_ index: Int) throws {
    let slip = Self.slips[index]
    let found = try message(slip.hook, slip.code)
    #expect(found.contains(slip.message), "\(found)")
  }

  static let results: [(hook: String, code: String, message: String)] = [
    (
      "normalize = { age = function(v) return 'old' end }", insert,
      "Person.age: normalize: extension1.lua:2: wrong result: takes an Integer 16, not string 'old'; make a number of the text"
    ),
    (
      "normalize = { age = function(v) return print end }", insert,
      "Person.age: normalize: extension1.lua:2: wrong result: a function cannot be stored"
    ),
    (
      "derived = { email = { stored = true, inputs = { 'lastName' }, get = function(v) return 12 end } }", insert,
      "Person.email: get: extension1.lua:2: wrong result: takes a string, not integer 12"
    ),
    (
      "derived = { x = { type = 'integer16', inputs = { 'lastName' }, get = function(v) return v end } }",
      "\(insert) print(p.x)",
      "Person.x: get: extension1.lua:2: wrong result: takes an Integer 16, not string 'a'; make a number of the text"
    ),
    (
      "derived = { x = { type = 'boolean', inputs = { 'lastName' }, pure = true, get = function(v) return v end } }",
      "\(insert) print(p.x)",
      "Person.x: get: extension1.lua:2: wrong result: takes a boolean, not string 'a'; give true or false"
    ),
    (
      "validate = { age = function(v) return false, moonbase.date.unix(0) end }", insert,
      "Person.age: validate: extension1.lua:2: its rule gave a date as its message"
    ),
    (
      "validate = { age = function(v, p) return false, select(2, p:validate('age', -1)) end }", insert,
      "Person.age: validate: extension1.lua:2: its rule gave an error as its message"
    ),
  ]

  @Test(arguments: results.indices) func aWrongResultNamesHookFileAndLine(_ index: Int) throws {
    let slip = Self.results[index]
    let found = try message(slip.hook, slip.code)
    #expect(found.contains(slip.message), "\(found)")
  }

  @Test func theErrorKeepsItsKindAndItsProperty() throws {
    let bench = try ScriptBench(
      extensions: [
        "return { entities = { Person = { will_save = function(p) p.active = 1 end } } }", ScriptBench.colors,
      ])
    let lines = try bench.lines(
      """
      context:insert("Person")
      local ok, err = context:save()
      print(ok, err.code, err.key, #err.traceback > 0)
      context:rollback()
      """)
    #expect(lines == ["nil\t134041\tactive\ttrue"])
  }
}
