import Foundation
import Yardsticks

/// The command with large data: import, export and each, compared with a C loop or `sqlite-utils convert`. Each may use
/// 96 MiB.
extension Benchmark {
  static var data: [Benchmark] {
    [
      importCSV, upsert, exportNDJSON, fetchNDJSON, diff, diffByKey, historyValues, migrateByScript, batchJob,
      eachValue, eachStatements, eachTwo, eachConvert, eachRule, eachJobs,
    ]
  }

  private static let greatestMemory: Int64 = 96 << 20

  private static var importCSV: Benchmark {
    Benchmark(
      name: "import-csv", title: "import csv with rules of the model, C: parse, insert", goal: .ratio(2.5),
      greatestMemory: greatestMemory,
      prepare: { workplace in
        try makeInput(workplace)
        workplace.removeStore("data.sqlite")
      },
      yardstick: { .number(yardstick_import($0.file("data.sqlite").path, $0.file("people.csv").path)) },
      subject: { workplace in
        try moonbase(workplace, ["import", "Person", "people.csv", "--store", "data.sqlite", "--model", "people.lua"])
        return .number(Int64(workplace.count))
      },
      inspect: { workplace, _ in sum(workplace, "data.sqlite") })
  }

  /// An import into a store that has the rows, compared with one into an empty store.
  private static var upsert: Benchmark {
    Benchmark(
      name: "import-upsert", title: "import --upsert of rows that are there, beside: import of new ones",
      goal: .ratio(3), greatestMemory: greatestMemory,
      prepare: { workplace in
        try makeStore(workplace)
        try workplace.copyStore("imported.sqlite", to: "data.sqlite")
        workplace.removeStore("new.sqlite")
      },
      yardstick: { workplace in
        try moonbase(workplace, ["import", "Person", "people.csv", "--store", "new.sqlite", "--model", "people.lua"])
        return .number(Int64(workplace.count))
      },
      subject: { workplace in
        try moonbase(
          workplace,
          ["import", "Person", "people.csv", "--store", "data.sqlite", "--model", "people.lua", "--upsert", "lastName"])
        return .number(Int64(workplace.count))
      },
      inspect: { workplace, side in sum(workplace, side == .subject ? "data.sqlite" : "new.sqlite") })
  }

  private static var exportNDJSON: Benchmark {
    Benchmark(
      name: "export-ndjson", title: "export as ndjson, C: select, print", goal: .ratio(2),
      greatestMemory: greatestMemory,
      prepare: makeStore,
      yardstick: { workplace in
        let identifier = try text(workplace, "SELECT Z_UUID FROM Z_METADATA")
        return .number(
          yardstick_export(
            workplace.file("imported.sqlite").path, workplace.file("people.ndjson").path,
            "x-coredata://\(identifier)/Person/p"))
      },
      subject: { workplace in
        try moonbase(
          workplace, ["export", "Person", "people.ndjson", "--force", "--store", "imported.sqlite"])
        return .number(try size(workplace.file("people.ndjson")))
      })
  }

  /// IDs are short in this format.
  private static var fetchNDJSON: Benchmark {
    Benchmark(
      name: "fetch-ndjson", title: "fetch as ndjson, C: select, print", goal: .ratio(2), greatestMemory: greatestMemory,
      prepare: makeStore,
      yardstick: { workplace in
        .number(
          yardstick_export(
            workplace.file("imported.sqlite").path, workplace.file("people.ndjson").path, "Person/"))
      },
      subject: { workplace in
        let command = ["fetch", "Person", "--format", "ndjson", "--store", "imported.sqlite"]
        try moonbase(workplace, command, output: workplace.file("people.ndjson").path)
        return .number(try size(workplace.file("people.ndjson")))
      })
  }

  /// Two stores that differ in one row of a hundred, compared with reading both.
  private static var diff: Benchmark {
    Benchmark(
      name: "diff", title: "diff of two stores, beside: fetch of both", goal: .ratio(3), greatestMemory: greatestMemory,
      prepare: makeDifferentStores,
      yardstick: { workplace in
        for store in ["imported.sqlite", "data.sqlite"] {
          try moonbase(workplace, ["fetch", "Person", "--format", "ndjson", "--store", store])
        }
        return .number(0)
      },
      subject: { workplace in
        try moonbase(workplace, ["diff", "imported.sqlite", "data.sqlite", "--format", "ndjson"], status: 1)
        return .number(0)
      })
  }

  /// Two such stores, whose objects are matched by the last name.
  private static var diffByKey: Benchmark {
    func differ(_ workplace: Workplace, _ arguments: String...) throws -> Answer {
      try moonbase(
        workplace, ["diff", "imported.sqlite", "data.sqlite", "--format", "ndjson"] + arguments, status: 1)
      return .number(0)
    }
    return Benchmark(
      name: "diff-by", title: "diff of two stores by an attribute, beside: by their keys", goal: .none,
      greatestMemory: greatestMemory, prepare: makeDifferentStores,
      yardstick: { try differ($0) },
      subject: { try differ($0, "--by", "lastName") })
  }

  private static func makeDifferentStores(_ workplace: Workplace) throws {
    try makeStore(workplace)
    try workplace.copyStore("imported.sqlite", to: "data.sqlite")
    try moonbase(
      workplace,
      [
        "each", "Person", "--store", "data.sqlite", "--where", "age == 0", "--do",
        "object.firstName = object.firstName .. 'x'",
      ])
  }

  /// Two transactions, each of which changed all objects.
  private static var historyValues: Benchmark {
    func history(_ workplace: Workplace, _ arguments: String...) throws -> Answer {
      try moonbase(workplace, ["history", "data.sqlite", "--format", "ndjson"] + arguments)
      return .number(0)
    }
    return Benchmark(
      name: "history-values", title: "history with the values, beside: without them", goal: .none,
      greatestMemory: greatestMemory,
      prepare: { workplace in
        try copyStore(workplace)
        for code in ["object.age = object.age + 1", code] {
          try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--keep-history", "--do", code])
        }
      },
      yardstick: { try history($0) },
      subject: { try history($0, "--values") })
  }

  private static var migrateByScript: Benchmark {
    func migrate(_ workplace: Workplace, _ arguments: String...) throws -> Answer {
      try moonbase(workplace, ["migrate", "data.sqlite", "--to", "newer.lua"] + arguments)
      return .number(0)
    }
    return Benchmark(
      name: "migrate-script", title: "migrate by a Lua file, beside: without it", goal: .none,
      greatestMemory: greatestMemory,
      prepare: { workplace in
        try copyStore(workplace)
        let newer = plainModel.replacingOccurrences(of: "born =", with: "fullName = \"string\", born =")
        try Data(newer.utf8).write(to: workplace.file("newer.lua"))
        let script = """
          return { Person = function(old, new) new.fullName = old.firstName .. " " .. old.lastName end }
          """
        try Data(script.utf8).write(to: workplace.file("mapping.lua"))
      },
      yardstick: { try migrate($0) },
      subject: { try migrate($0, "--mapping", "mapping.lua") })
  }

  private static var batchJob: Benchmark {
    Benchmark(
      name: "batch-run", title: "batch run of a job, beside: each by objects", goal: .none,
      greatestMemory: greatestMemory,
      prepare: { workplace in
        try copyStore(workplace)
        let job = """
          return { request = "Person", chunk = function(objects)
            for _, object in ipairs(objects) do object.lastName = object.lastName:upper() end
          end }
          """
        try Data(job.utf8).write(to: workplace.file("job.lua"))
      },
      yardstick: { workplace in
        try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", code, "--batch", "1000"])
        return .number(0)
      },
      subject: { workplace in
        try moonbase(workplace, ["batch", "run", "job.lua", "data.sqlite", "--quiet"])
        return .number(0)
      })
  }

  // MARK: Each

  /// The work of sqlite-utils: no rules, hooks or derived values.
  private static var eachValue: Benchmark {
    convert("each-value", "each on one attribute, beside: sqlite-utils convert", goal: 1 / 1.5) { workplace in
      try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", code])
    }
  }

  /// A conversion of one attribute in several statements.
  private static var eachStatements: Benchmark {
    convert("each-statements", "each in several statements, beside: sqlite-utils convert", goal: 1 / 1.5) { workplace in
      let code = "local name = object.lastName if #name > 0 then object.lastName = name:upper() end"
      try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", code])
    }
  }

  /// A conversion of two attributes, for which `sqlite-utils` takes twice as long.
  private static var eachTwo: Benchmark {
    convert("each-two", "each on two attributes, beside: sqlite-utils convert of one", goal: 2 / 1.5) { workplace in
      let code = "local name = object.lastName object.lastName = name:upper() object.age = #name"
      try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", code])
    }
  }

  /// A conversion that visits objects, because batches are requested.
  private static var eachConvert: Benchmark {
    convert("each-objects", "each on one attribute, by objects, beside: sqlite-utils convert", goal: nil) { workplace in
      try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", code, "--batch", "1000"])
    }
  }

  private static var eachRule: Benchmark {
    convert("each-rule", "each with a rule and a derived attribute, beside: sqlite-utils convert", goal: 1) {
      workplace in
      let extension_ = """
        return { entities = { Person = {
          validate = { lastName = function(name) if #name > 100 then return false, "is too long" end return true end },
          derived = { fullName = { inputs = { "firstName", "lastName" }, get = function(a, b) return a .. " " .. b end } },
        } } }
        """
      try Data(extension_.utf8).write(to: workplace.file("rule.lua"))
      try moonbase(
        workplace, ["each", "Person", "--store", "data.sqlite", "--extension", "rule.lua", "--do", code])
    }
  }

  /// A script that works longer on each object than the store does.
  private static var eachJobs: Benchmark {
    func run(_ workplace: Workplace, jobs: Int) throws -> Answer {
      let slow = "local n = 0 for i = 1, 2000 do n = (n * 31 + i) % 1000003 end object.age = n % 100"
      try moonbase(workplace, ["each", "Person", "--store", "data.sqlite", "--do", slow, "--jobs", "\(jobs)"])
      return .none
    }
    return Benchmark(
      name: "each-jobs", title: "each whose script dominates, two workers, beside: one", goal: .ratio(1 / 1.6),
      greatestMemory: greatestMemory,
      prepare: copyStore,
      yardstick: { try run($0, jobs: 1) },
      subject: { try run($0, jobs: 2) },
      inspect: { workplace, _ in sum(workplace, "data.sqlite") })
  }

  private static let code = "object.lastName = object.lastName:upper()"

  private static func convert(
    _ name: String, _ title: String, goal: Double?, subject: @escaping (Workplace) throws -> Void
  ) -> Benchmark {
    Benchmark(
      name: name, title: title, goal: goal.map(Goal.ratio) ?? .none, greatestMemory: greatestMemory,
      prepare: copyStore,
      yardstick: { workplace in
        let arguments = ["convert", workplace.file("data.sqlite").path, "ZPERSON", "ZLASTNAME", "value.upper()", "-s"]
        var peak: Int64 = 0
        let status = run(["sqlite-utils"] + arguments, &peak)
        guard status != -1, status != 127 else {
          throw Failure(
            "sqlite-utils is not installed: scripts/setup installs it (Debian: apt-get install sqlite-utils)")
        }
        return try ended(status, "sqlite-utils")
      },
      subject: { workplace in
        try subject(workplace)
        return .number(0)
      },
      inspect: { workplace, _ in
        .number(
          yardstick_value(
            workplace.file("data.sqlite").path, "SELECT COUNT(*) FROM ZPERSON WHERE ZLASTNAME GLOB 'LAST*'"))
      })
  }

  // MARK: What they work on

  private static let ruledModel = """
    return { entities = { Person = { attributes = {
      firstName = "string", lastName = { "string", indexed = true, max_length = 100 }, age = { "integer64", min = 0, max = 150 },
      born = "date", height = "double",
    } } } }
    """

  /// The model for `each`, without rules, and without indexes, which both sides would have to write.
  private static let plainModel = """
    return { entities = { Person = { attributes = {
      firstName = "string", lastName = "string", age = "integer64", born = "date", height = "double",
    } } } }
    """

  private static func makeInput(_ workplace: Workplace) throws {
    guard !FileManager.default.fileExists(atPath: workplace.file("people.csv").path) else { return }
    try Data(ruledModel.utf8).write(to: workplace.file("people.lua"))
    try Data(plainModel.utf8).write(to: workplace.file("plain.lua"))
    // Written in parts: memory of this process counts for its children until they start.
    let file = workplace.file("people.csv")
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    var text = "firstName,lastName,age,born,height\n"
    for row in 0..<workplace.count {
      let (month, day) = (row % 12 + 1, row % 28 + 1)
      let date = "20\(10 + row % 10)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)T12:30:05Z"
      let first = row % 10 == 0 ? "\"First, \(row % 1000)\"" : "First\(row % 1000)"
      text += "\(first),Last\(row),\(row % 100),\(date),\(Double(150 + row % 50) / 100)\n"
      guard row % 10_000 == 9999 else { continue }
      try handle.write(contentsOf: Data(text.utf8))
      text = ""
    }
    try handle.write(contentsOf: Data(text.utf8))
  }

  private static func makeStore(_ workplace: Workplace) throws {
    try makeInput(workplace)
    guard !FileManager.default.fileExists(atPath: workplace.file("imported.sqlite").path) else { return }
    for (store, model) in [("imported.sqlite", "people.lua"), ("plain.sqlite", "plain.lua")] {
      try moonbase(workplace, ["import", "Person", "people.csv", "--store", store, "--model", model])
    }
  }

  private static func copyStore(_ workplace: Workplace) throws {
    try makeStore(workplace)
    try workplace.copyStore("plain.sqlite", to: "data.sqlite")
  }

  private static func sum(_ workplace: Workplace, _ store: String) -> Answer {
    .number(
      yardstick_value(
        workplace.file(store).path,
        "SELECT SUM(ZAGE) + SUM(LENGTH(ZFIRSTNAME)) + SUM(LENGTH(ZLASTNAME)) + CAST(SUM(ZBORN) AS INTEGER) FROM ZPERSON"
      ))
  }

  private static func text(_ workplace: Workplace, _ sql: String) throws -> String {
    // The identifier of a store is no integer, so SQLite's shell reads it.
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", workplace.file("imported.sqlite").path, sql]
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("sqlite3 ended with \(process.terminationStatus)") }
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static func size(_ file: URL) throws -> Int64 {
    Int64(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? -1)
  }

  // MARK: Programs

  /// Runs the command; files are those of the workplace.
  static func moonbase(
    _ workplace: Workplace, _ arguments: [String], output: String = "/dev/null", status: Int64 = 0
  ) throws {
    guard let command = ProcessInfo.processInfo.environment["MOONBASE_COMMAND"] else {
      throw Failure("MOONBASE_COMMAND does not name the command; start this through scripts/bench")
    }
    let files = [".csv", ".lua", ".ndjson", ".sqlite"]
    let named = arguments.map { word in files.contains { word.hasSuffix($0) } ? workplace.file(word).path : word }
    var peak: Int64 = 0
    let ending = run([command] + named, output: output, &peak)
    guard ending == status else {
      throw Failure("moonbase \(arguments.joined(separator: " ")) ended with \(ending)")
    }
    workplace.peak = max(workplace.peak, peak)
  }

  private static func ended(_ status: Int64, _ what: String) throws -> Answer {
    guard status == 0 else { throw Failure("\(what) ended with \(status)") }
    return .number(0)
  }

  private static func run(_ arguments: [String], output: String = "/dev/null", _ peak: inout Int64) -> Int64 {
    let pointers = arguments.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    return yardstick_spawn_quietly(pointers.map { UnsafePointer<CChar>($0) } + [nil], output, &peak)
  }
}
