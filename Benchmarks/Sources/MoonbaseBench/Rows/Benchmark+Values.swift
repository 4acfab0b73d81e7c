import Foundation
import Moonbase
import MoonbaseLua
import Yardsticks

/// The cost of features of scripts and extensions: types that Lua lacks, derived attributes, transformers, rules. Most
/// rows are compared with the same work without the feature.
extension Benchmark {
  static var values: [Benchmark] {
    [
      reading("born", "a date"), reading("price", "a decimal"), reading("tag", "a UUID"),
      reading("total", "a derived value that is kept"),
      derivedStored, derivedRecompute, transformable,
      rule("value", parameters: "value", goal: 1.3), rule("object", parameters: "value, object", goal: 1.5),
      upsert, purePredicate, walkWithDate, parallel,
    ]
  }

  // MARK: Reading

  /// Repeated reads of existing objects.
  private static func reading(_ attribute: String, _ what: String) -> Benchmark {
    func script(_ attribute: String) -> String {
      """
      local n, folder = ...
      local context = moonbase.open{ store = folder .. "/measures.sqlite", extensions = { folder .. "/measures.lua" } }.context
      local objects = context:fetch("Measure"):limit(1000):all()
      return function()
        local count = 0
        for round = 1, n // 100 do
          for i = 1, #objects do
            if objects[i].\(attribute) then count = count + 1 end
          end
        end
        return count
      end
      """
    }
    return pair(
      "lua-reads-\(attribute)", "Lua reads \(what), beside: an integer", goal: 3, yardstick: script("number"),
      subject: script(attribute))
  }

  // MARK: Derived attributes

  private static var derivedStored: Benchmark {
    pair(
      "derived-stored", "saving changed objects with a stored derived attribute, beside: without", goal: 2,
      yardstick: saving(with: "nothing.lua"), subject: saving(with: "stored.lua"))
  }

  /// Changes an attribute of each object, and saves.
  private static func saving(with file: String) -> String {
    """
    local n, folder = ...
    local context = moonbase.open{ store = folder .. "/measures.sqlite", extensions = { folder .. "/\(file)" } }.context
    local objects = context:fetch("Measure"):all()
    for i = 1, #objects do objects[i].number = objects[i].number + 1 end
    context.merge_policy = "overwrite"
    return function()
      assert(context:save())
      return #objects
    end
    """
  }

  /// Changes an input and reads the value, compared with a plain call of the function.
  private static var derivedRecompute: Benchmark {
    let pair = ScriptPair(
      yardstick: "return function() return 0 end",
      subject: """
        local n, folder = ...
        local context = moonbase.open{ store = folder .. "/measures.sqlite", extensions = { folder .. "/measures.lua" } }.context
        local object = context:fetch("Measure"):first()
        object.other = 2
        return function()
          local sum = 0
          for i = 0, n * 10 - 1 do
            object.number = i
            sum = sum + object.product
          end
          return sum
        end
        """)
    return Benchmark(
      name: "derived-recompute",
      title: "Lua sets an input and reads what is derived of it, C: calls of its function", goal: .ratio(3),
      prepare: {
        try makeMeasures($0)
        try pair.prepare($0)
      },
      yardstick: { .number(yardstick_host_calls_lua("return function(a, b) return a * b end", Int64($0.count) * 10)) },
      subject: { _ in try pair.run(\.subject) })
  }

  // MARK: Transformers and rules

  private static var transformable: Benchmark {
    func script(_ assignment: String) -> String {
      """
      local n, folder = ...
      local context = moonbase.open{ store = folder .. "/measures.sqlite", extensions = { folder .. "/measures.lua" } }.context
      local Color = moonbase.classes.Color
      local objects = context:fetch("Measure"):all()
      context.merge_policy = "overwrite"
      local seed = math.random()
      return function()
        for i = 1, #objects do objects[i].\(assignment) end
        assert(context:save())
        return #objects
      end
      """
    }
    return pair(
      "lua-transformable", "Lua assigns a transformable, saved, beside: its bytes", goal: 2,
      yardstick: script("bytes = string.pack('<dd', i, seed)"), subject: script("color = Color.new(i, seed)"))
  }

  private static func rule(_ name: String, parameters: String, goal: Double) -> Benchmark {
    pair(
      "lua-rule-\(name)", "saving changed objects with a rule (\(parameters)), beside: without", goal: goal,
      yardstick: saving(with: "nothing.lua"), subject: saving(with: "rule-\(name).lua"))
  }

  // MARK: Requests

  private static var upsert: Benchmark {
    func script(_ call: String, _ file: String) -> String {
      """
      local n, folder = ...
      return function()
        local context = moonbase.open{ store = folder .. "/\(file)" }.context
        for i = 1, n do \(call) end
        assert(context:save())
        return n
      end
      """
    }
    let values = "{ lastName = 'Last' .. i, age = i % 100 }"
    let pair = ScriptPair(
      yardstick: script("context:insert('Person', \(values))", "insert.sqlite"),
      subject: script("context:upsert('Person', { 'lastName' }, \(values))", "upsert.sqlite"))
    return Benchmark(
      name: "script-upsert", title: "a script upserts objects that are new, saved, beside: inserts", goal: .ratio(3),
      prepare: { workplace in
        for file in ["insert.sqlite", "upsert.sqlite"] {
          workplace.removeStore(file)
          _ = try Person.context(workplace.file(file))
        }
        try pair.prepare(workplace)
      },
      yardstick: { _ in try pair.run(\.yardstick) }, subject: { _ in try pair.run(\.subject) })
  }

  private static var purePredicate: Benchmark {
    let pair = ScriptPair(
      yardstick: "return function() return 0 end",
      subject: """
        local n, folder = ...
        return function()
          local context = moonbase.open{ store = folder .. "/people.sqlite", extensions = { folder .. "/grades.lua" } }.context
          return context:fetch("Person"):where("grade > 50"):count()
        end
        """)
    return Benchmark(
      name: "pure-predicate",
      title: "counting by a pure derived attribute, C: SELECT with a Lua function", goal: .ratio(1.3),
      prepare: { workplace in
        try makePeople(workplace)
        try write(
          """
          return { entities = { Person = { derived = {
            grade = { type = "integer64", inputs = { "age" }, pure = true, get = function(age) return age * 7 % 101 end },
          } } } }
          """, "grades.lua", workplace)
        try pair.prepare(workplace)
      },
      yardstick: {
        .number(
          yardstick_select_by_function(
            $0.file("people.sqlite").path, "return function(age) return age * 7 % 101 end",
            "SELECT COUNT(*) FROM ZPERSON WHERE transform(ZAGE) > 50"))
      },
      subject: { _ in try pair.run(\.subject) })
  }

  // MARK: Walks

  private static let walking = """
    local sum, kept = 0, 0.0
    for person in persons do
      sum = sum + person.age + #person.firstName
      kept = kept + SECONDS
    end
    assert(kept > 0)
    return sum
    """

  /// Runs the command, so that its memory can be measured.
  private static var walkWithDate: Benchmark {
    Benchmark(
      name: "script-walk-date", title: "a script walks objects and reads a date of each, C: userdata",
      goal: .oneCore(2, twoCores: 1.6), greatestMemory: 64 << 20,
      prepare: { workplace in
        try makePeople(workplace)
        let body = walking.replacingOccurrences(of: "SECONDS", with: "person.born.reference")
        try write(
          """
          local function walk(persons) \(body) end
          assert(walk(moonbase.context:fetch("Person"):each()) > 0)
          """, "walk.lua", workplace)
      },
      yardstick: { workplace in
        let body = walking.replacingOccurrences(of: "SECONDS", with: "person.born")
        let sum = yardstick_script_walks(workplace.file("people.sqlite").path, "local persons = ... \(body)")
        return .number(min(sum, 0))
      },
      subject: { workplace in
        try moonbase(workplace, ["run", "--store", "people.sqlite", "walk.lua"])
        return .number(0)
      })
  }

  /// A module that works longer on each object than the store does.
  private static var parallel: Benchmark {
    func script(_ call: String) -> String {
      """
      local context = moonbase.context
      local request = context:fetch("Person"):limit(20000)
      local all, errors = \(call)
      assert(not errors, errors and tostring(errors[1]))
      """
    }
    return Benchmark(
      name: "parallel", title: "moonbase.parallel on all cores, beside: the module called once", goal: .ratio(1 / 1.7),
      prepare: { workplace in
        try makePeople(workplace)
        try write(
          """
          return function(context, ids)
            local sum = 0
            for _, id in ipairs(ids) do
              local n = context:object(id).age
              for i = 1, 20000 do n = (n * 31 + i) % 1000003 end
              sum = sum + n
            end
            return sum
          end
          """, "work.lua", workplace)
        try write(script("{ require('work')(context, request:ids()) }"), "one.lua", workplace)
        try write(script("moonbase.parallel(request, 'work')"), "all.lua", workplace)
      },
      yardstick: { workplace in
        try moonbase(workplace, ["run", "--store", "people.sqlite", "one.lua"])
        return .none
      },
      subject: { workplace in
        try moonbase(workplace, ["run", "--store", "people.sqlite", "all.lua"])
        return .none
      })
  }

  // MARK: What they work on

  private static func pair(
    _ name: String, _ title: String, goal: Double, yardstick: String, subject: String
  ) -> Benchmark {
    let pair = ScriptPair(yardstick: yardstick, subject: subject)
    return Benchmark(
      name: name, title: title, goal: .ratio(goal),
      prepare: {
        try makeMeasures($0)
        try pair.prepare($0)
      },
      yardstick: { _ in try pair.run(\.yardstick) }, subject: { _ in try pair.run(\.subject) })
  }

  private static func measures() throws -> ManagedObjectModel {
    var color = AttributeDescription("color", type: .transformable)
    color.valueTransformerName = "ColorTransformer"
    return ManagedObjectModel {
      EntityDescription("Measure") {
        AttributeDescription("number", type: .integer64)
        AttributeDescription("other", type: .integer64)
        AttributeDescription("sum", type: .integer64)
        AttributeDescription("born", type: .date)
        AttributeDescription("price", type: .decimal)
        AttributeDescription("tag", type: .uuid)
        AttributeDescription("bytes", type: .binaryData)
        color
      }
    }
  }

  private static let classes = """
    local Color = {}
    Color.__index = Color
    function Color.new(x, y) return setmetatable({ x = x, y = y }, Color) end
    local extension = {
      classes = { Color = Color },
      transformers = { ColorTransformer = {
        class = "Color",
        transform = function(color) return string.pack("<dd", color.x, color.y) end,
        reverse = function(bytes) return Color.new(string.unpack("<dd", bytes)) end,
      } },
    }
    """

  /// The extensions of the rows: their additions to an entity.
  private static let extensions = [
    "nothing.lua": "",
    "stored.lua":
      "derived = { sum = { inputs = { 'number', 'other' }, stored = true, get = function(a, b) return a + b end } }",
    "rule-value.lua": "validate = { number = function(value) return value < 1000000000, 'is too large' end }",
    "rule-object.lua":
      "validate = { number = function(value, object) return value < 1000000000, 'is too large' end }",
    "measures.lua": """
    derived = {
      total = { type = 'integer64', inputs = { 'number', 'other' }, get = function(a, b) return a + b end },
      product = { type = 'integer64', inputs = { 'number', 'other' }, get = function(a, b) return a * b end },
    }
    """,
  ]

  private static func makeMeasures(_ workplace: Workplace) throws {
    guard !FileManager.default.fileExists(atPath: workplace.file("measures.sqlite").path) else { return }
    for (name, text) in extensions {
      try write("\(classes) extension.entities = { Measure = { \(text) } } return extension", name, workplace)
    }
    let container = try PersistentContainer(
      model: measures(), store: .sqlite(workplace.file("measures.sqlite")),
      extensions: [.file(workplace.file("nothing.lua"))])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    for number in 0..<workplace.count {
      let values: [String: Value] = [
        "number": .int(Int64(number)), "other": .int(Int64(number % 100)),
        "born": .date(Date(timeIntervalSinceReferenceDate: Double(number) * 60)),
        "price": .decimal(Decimal(number) / 100), "tag": .uuid(UUID()),
        "bytes": .data(Data([1, 2, 3])), "sum": .int(Int64(number + number % 100)),
      ]
      _ = try context.insert("Measure", values: values)
    }
    try context.save()
  }

  private static func write(_ text: String, _ name: String, _ workplace: Workplace) throws {
    try Data(text.utf8).write(to: workplace.file(name))
  }
}
