import Foundation
import Moonbase
import MoonbaseLua
import Yardsticks

/// Scripts over the graph and the SQLite store, compared with a Lua loop over functions and userdata in C.
extension Benchmark {
  static var scripts: [Benchmark] {
    [scriptInsert, scriptInsertAhead, scriptWalk, transform, scriptUpdate, luaReadsAttribute]
  }

  /// `insert` gets one table for each row, with the values of `Person.fill`.
  private static let inserting = """
    local n, insert, date = ...
    local sum = 0
    for row = 0, n - 1 do
      insert{
        firstName = "First" .. row % 1000, lastName = "Last" .. row, age = row % 100, born = date(row * 60.0),
        height = 1.5 + row % 50 / 100, color = string.pack("<dddd", row % 256 / 255, 0.5, 0.25, 1),
      }
      sum = sum + row % 100
    end
    return sum
    """

  private static var scriptInsert: Benchmark {
    scriptInsert("script-insert", title: "a script inserts objects, saved, C: tables to a function", saving: "")
  }

  /// Inserts in chunks with background saves, where there is more than one core.
  private static var scriptInsertAhead: Benchmark {
    scriptInsert(
      "script-insert-ahead", title: "a script inserts objects, saved ahead by 10,000, C: tables to a function",
      saving: "count = count + 1 if count % 10000 == 0 then assert(context:save_ahead()) end")
  }

  /// `saving` is run after each insertion.
  private static func scriptInsert(_ name: String, title: String, saving: String) -> Benchmark {
    Benchmark(
      name: name, title: title, goal: .oneCore(2, twoCores: 1.5),
      prepare: { $0.removeStore("script.sqlite") },
      yardstick: { .number(yardstick_script_inserts($0.file("script.sqlite").path, inserting, Int64($0.count))) },
      subject: { workplace in
        // Makes the file, since a script opens existing files only.
        _ = try Person.context(workplace.file("script.sqlite"))
        return try run(
          """
          local n, path = ...
          local context = moonbase.open{ store = path }.context
          local count = 0
          local function insert(values) context:insert("Person", values) \(saving) end
          local sum = (function(...) \(inserting) end)(n, insert, moonbase.date.reference)
          assert(context:save())
          return sum
          """, workplace, "script.sqlite")
      },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("script.sqlite").path)) })
  }

  /// Reads five attributes of each object; `persons` iterates over them.
  private static let walking = """
    local sum, kept = 0, 0.0
    for person in persons do
      sum = sum + person.age + #person.firstName + #person.lastName + #person.color
      kept = kept + person.height
    end
    assert(kept > 0)
    return sum
    """

  private static var scriptWalk: Benchmark {
    Benchmark(
      name: "script-walk", title: "a script walks objects, reads five attributes, C: userdata",
      goal: .oneCore(2, twoCores: 1.6),
      prepare: makePeople,
      yardstick: { workplace in
        .number(yardstick_script_walks(workplace.file("people.sqlite").path, "local persons = ... \(walking)"))
      },
      subject: { workplace in
        try run(
          """
          local n, path = ...
          local context = moonbase.open{ store = path }.context
          local persons = context:fetch("Person"):each()
          \(walking)
          """, workplace, "people.sqlite")
      })
  }

  /// Darkens a colour.
  private static let darkening = """
    return function(bytes)
      local r, g, b, a = string.unpack("<dddd", bytes)
      return string.pack("<dddd", r * 0.5, g * 0.5, b * 0.5, a)
    end
    """

  private static var transform: Benchmark {
    let script = darkening
    return Benchmark(
      name: "lua-transform", title: "Lua transforms a column, saved", goal: .oneCore(1.6, twoCores: 1),
      prepare: { workplace in
        try makePeople(workplace)
        try workplace.copyStore("people.sqlite", to: "transform.sqlite")
      },
      yardstick: { .number(yardstick_transform_loop($0.file("transform.sqlite").path, script)) },
      subject: { workplace in
        try run(
          """
          local n, path = ...
          local transform = (function() \(script) end)()
          local context = moonbase.open { store = path }.context
          local count = 0
          for person in context:fetch("Person"):save_every(10000):each() do
            person.color = transform(person.color)
            count = count + 1
          end
          assert(context:save())
          return count
          """, workplace, "transform.sqlite")
      },
      inspect: { workplace, _ in .number(yardstick_colors(workplace.file("transform.sqlite").path)) })
  }

  /// Without rules and hooks the update is one statement on both sides.
  private static var scriptUpdate: Benchmark {
    let script = darkening
    return Benchmark(
      name: "store-script-update", title: "batch update by a script's function, C: UPDATE with a Lua function",
      goal: .ratio(1.1),
      prepare: { workplace in
        try makePeople(workplace)
        try workplace.copyStore("people.sqlite", to: "transform.sqlite")
      },
      yardstick: { .number(yardstick_transform($0.file("transform.sqlite").path, script)) },
      subject: { workplace in
        try run(
          """
          local n, path = ...
          local transform = (function() \(script) end)()
          return moonbase.open { store = path }.context:fetch("Person"):batch_update { color = transform }
          """, workplace, "transform.sqlite")
      },
      inspect: { workplace, _ in .number(yardstick_colors(workplace.file("transform.sqlite").path)) })
  }

  private static var luaReadsAttribute: Benchmark {
    let script = "local o, n = ... local s = 0 for i = 1, n do s = s + o.age end return s"
    return Benchmark(
      name: "lua-reads-attribute", title: "Lua reads an attribute of an object, C: userdata", goal: .ratio(1.5),
      prepare: { workplace in
        workplace.removeStore("attribute.sqlite")
        let context = try Person.context(workplace.file("attribute.sqlite"))
        _ = try context.insert("Person", values: ["age": 7])
        try context.save()
      },
      yardstick: { .number(yardstick_lua_reads_property(script, Int64($0.count) * 10)) },
      subject: { workplace in
        try run(
          """
          local n, path = ...
          local object = moonbase.open{ store = path }.context:fetch("Person"):first()
          return (function(...) \(script) end)(object, n * 10)
          """, workplace, "attribute.sqlite")
      })
  }

  /// Runs a script with the size of the work and the path of a store; returns its integer result.
  private static func run(_ script: String, _ workplace: Workplace, _ store: String) throws -> Answer {
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.installOpen { try PersistentContainer($0).opened }
    let chunk = try domain.state.load(script, name: "row")
    return try number(chunk(.integer(Int64(workplace.count)), .text(workplace.file(store).path)))
  }
}
