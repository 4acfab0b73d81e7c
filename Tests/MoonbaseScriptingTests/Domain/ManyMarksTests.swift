import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// A letter with tens of thousands of accents, which Foundation and Swift's tables sort by insertion.
@Suite struct ManyMarksTests {
  /// Operations on such a text. With quadratic work, each would take half a second or more.
  static let uses = [
    "require('moonbase.text').normalize(marks)",
    "require('moonbase.text').fold(marks)",
    "context:fetch('Person'):where('firstName ==[c] %@', marks):count()",
    "context:fetch('Person'):where('firstName LIKE %@', marks):count()",
    "context:fetch('Person'):where('firstName LIKE[c] %@', marks):count()",
    "context:fetch('Person'):where('canonical(firstName) == %@', marks):count()",
    "context:fetch('Person'):where('CAST(firstName, %@) == 1', marks):count()",
    "context:fetch('Person'):where('FUNCTION(firstName, %@) == 1', marks):count()",
    "context:fetch('Person'):where('FUNCTION(firstName, \"' .. marks .. '\") == 1'):count()",
    "context:fetch('Person'):where('SUBQUERY(friends, $' .. marks .. ', $' .. marks .. '.age == 1).@count == 1'):count()",
    "context:fetch('Person'):where('%K == 1', marks):count()",
    "context:fetch('Person'):prefetch(marks):all()",
    "context:fetch('Person'):group_by('firstName'):dictionaries { 'firstName', [marks] = '@count' }",
    "context:fetch_template('olderThan', { [marks] = 1 })",
    "context:fetch_template(marks)",
    "context:fetch(marks)",
    "context:find('Person', { [marks] = 1 })",
    "context:upsert('Person', { marks }, { firstName = 'a' })",
    "context:object('x-coredata://' .. marks .. '/' .. marks .. '/p1')",
    "person[marks] = 1",
    "return person[marks]",
    "return person:primitive(marks)",
    "return person:validate(marks, 1)",
    "person.bounds = { [marks] = 1, a = 2 }",
    "return moonbase.model.entities[marks]",
    "return moonbase[marks]",
    "return moonbase.uuid(marks)",
    "return moonbase.date.parse(marks)",
    "return require(marks)",
    "return moonbase.open { [marks] = 1 }",
    "return moonbase.open { model = { entities = { [marks] = {} } } }",
    "return moonbase.open { model = { entities = { P = { attributes = { a = marks } } } } }",
    "return moonbase.open { model = { entities = { P = { parent = marks } } } }",
    "return moonbase.open { model = { entities = { P = { user_info = { [marks] = 1 } } } } }",
    "return moonbase.open { model = { entities = { P = {} }, configurations = { [marks] = { 'P' } } } }",
  ]

  @Test(arguments: uses) func aLetterWithManyAccentsTakesNoTimeThatGrowsWithTheirSquare(_ use: String) throws {
    let bench = try ScriptBench()
    func seconds(_ count: Int) throws -> Double {
      try processorSeconds {
        let outcome = try bench.run(
          """
          local context = moonbase.context
          local marks = "e" .. ("\\u{301}\\u{316}"):rep(\(count))
          local person = context:insert("Person", { firstName = marks })
          pcall(function() \(use) end)
          context:reset()
          """, opener: { _ in throw CancellationError() })
        #expect(outcome.status == 0, "\(outcome)")
      }
    }
    let (few, many) = (try seconds(1500), try seconds(15_000))
    #expect(many < 40 * max(few, 0.005), "\(few), \(many)")
  }

  @Test func aKeyWithManyAccentsIsRefusedByName() throws {
    let lines = try ScriptBench().lines(
      """
      local person = context:insert("Person")
      print(pcall(function() person.bounds = { ["e" .. ("\\u{301}"):rep(31)] = 1 } end))
      person.bounds = { ["e" .. ("\\u{301}"):rep(30)] = 1 }
      print(pcall(moonbase.open, { model = { entities = { ["e" .. ("\\u{301}"):rep(31)] = {} } } }))
      """, leavingChanges: true, opener: { _ in throw CancellationError() })
    let mistake = "more than 30 accents or other marks on one letter"
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].contains("Person.bounds: a key of the map has \(mistake)"), "\(lines)")
    #expect(lines[1].contains("entities: it has \(mistake)"), "\(lines)")
  }
}
