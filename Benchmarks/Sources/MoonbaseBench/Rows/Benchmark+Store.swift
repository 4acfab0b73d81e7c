import Foundation
import Moonbase
import MoonbaseLua
import Yardsticks

/// Objects through a context and the SQLite store, beside the bare table.
extension Benchmark {
  static var store: [Benchmark] { [insert, fetch, transform] }

  private static var insert: Benchmark {
    Benchmark(
      name: "insert", title: "insert objects through a context, save", goal: 2,
      prepare: { $0.removeStore("insert.sqlite") },
      yardstick: { .number(yardstick_insert($0.file("insert.sqlite").path, Int64($0.count))) },
      subject: { .number(try insertPeople($0, "insert.sqlite")) },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("insert.sqlite").path)) })
  }

  private static var fetch: Benchmark {
    Benchmark(
      name: "fetch", title: "fetch objects, read every attribute", goal: 1.5,
      prepare: makePeople,
      yardstick: { .number(yardstick_fetch($0.file("people.sqlite").path)) },
      subject: { workplace in
        let context = try Person.context(workplace.file("people.sqlite"))
        var sum: Int64 = 0
        var kept = 0.0
        for case let person as Person in try context.fetch(FetchRequest("Person")) {
          sum += person[Person.ageKey] + Int64(person[Person.firstNameKey].utf8.count)
          sum += Int64(person[Person.lastNameKey].utf8.count + person[Person.colorKey].count)
          kept += person[Person.bornKey].timeIntervalSinceReferenceDate + person[Person.heightKey]
        }
        // What is read must be used.
        guard kept.isFinite else { throw Failure("the sum of the dates is no number") }
        return .number(sum)
      })
  }

  private static var transform: Benchmark {
    let script = """
      return function(bytes)
        local r, g, b, a = string.unpack("<dddd", bytes)
        return string.pack("<dddd", r * 0.5, g * 0.5, b * 0.5, a)
      end
      """
    return Benchmark(
      name: "lua-transform", title: "Lua transforms a column, saved", goal: 1,
      prepare: { workplace in
        try makePeople(workplace)
        try workplace.copyStore("people.sqlite", to: "transform.sqlite")
      },
      yardstick: { .number(yardstick_transform_loop($0.file("transform.sqlite").path, script)) },
      subject: { .number(try transformPeople($0.file("transform.sqlite"), script)) },
      inspect: { workplace, _ in .number(yardstick_colors(workplace.file("transform.sqlite").path)) })
  }

  // MARK: Work

  private static func makePeople(_ workplace: Workplace) throws {
    guard !FileManager.default.fileExists(atPath: workplace.file("people.sqlite").path) else { return }
    _ = try insertPeople(workplace, "people.sqlite")
  }

  private static func insertPeople(_ workplace: Workplace, _ name: String) throws -> Int64 {
    let context = try Person.context(workplace.file(name))
    var sum: Int64 = 0
    for row in 0..<workplace.count {
      guard let person = try context.insert("Person") as? Person else { throw Failure("the class is not Person") }
      person.fill(row)
      sum += person[Person.ageKey]
    }
    try context.save()
    return sum
  }

  private static func transformPeople(_ url: URL, _ script: String) throws -> Int64 {
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.installOpen { try PersistentContainer($0).opened }
    let code = """
      local transform = (function() \(script) end)()
      local context = moonbase.open { store = "\(url.path)" }.context
      local count = 0
      for person in context:fetch("Person"):save_every(10000):each() do
        person.color = transform(person.color)
        count = count + 1
      end
      assert(context:save())
      return count
      """
    guard case .integer(let count) = try domain.state.load(code, name: "transform").first() else {
      throw Failure("the script returned no count")
    }
    return count
  }
}
