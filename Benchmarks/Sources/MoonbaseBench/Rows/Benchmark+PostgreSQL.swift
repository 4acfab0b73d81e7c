#if POSTGRESQL
  import Foundation
  import Moonbase
  import Yardsticks

  /// Objects in PostgreSQL, compared with plain C on libpq. The server is that of `MOONBASE_BENCH_SERVER`, an address as
  /// `postgresql://moonbase@127.0.0.1:5432/postgres`; schemas whose names begin with `bench_` are dropped there.
  extension Benchmark {
    static var postgreSQL: [Benchmark] {
      guard ProcessInfo.processInfo.environment["MOONBASE_BENCH_SERVER"] != nil else { return [] }
      return [pgSave, pgFetch, pgWalk, pgWorkers]
    }

    private static var server: String { ProcessInfo.processInfo.environment["MOONBASE_BENCH_SERVER"] ?? "" }

    private static func drop(_ schemas: String...) throws {
      let sql = schemas.map { "DROP SCHEMA IF EXISTS \"\($0)\", \"\($0)_views\" CASCADE" }.joined(separator: "; ")
      guard yardstick_pg_execute(server, sql) == 0 else { throw Failure("the schemas cannot be dropped") }
    }

    private static func context(_ schema: String) throws -> ManagedObjectContext {
      guard let url = URL(string: "\(server)?schema=\(schema)") else { throw Failure("\(server) is no address") }
      let container = try PersistentContainer(
        model: Person.model, store: .postgreSQL(url), classes: ["Person": Person.self])
      return try ManagedObjectContext(container.coordinator)
    }

    private static var pgSave: Benchmark {
      Benchmark(
        name: "pg-save", title: "save objects in PostgreSQL, C: unnest", goal: .ratio(1.5),
        prepare: { _ in try drop("bench_c", "bench_moonbase") },
        yardstick: { .number(yardstick_pg_insert(server, "bench_c", Int64($0.count))) },
        subject: { .number(try insertPeople($0, try context("bench_moonbase"))) },
        inspect: { _, side in .number(yardstick_pg_walk(server, side == .subject ? "bench_moonbase" : "bench_c")) })
    }

    private static var pgFetch: Benchmark {
      ofPeople(
        "pg-fetch", "fetch objects from PostgreSQL, read and keep them all",
        yardstick: { yardstick_pg_fetch(server, "bench_people") },
        subject: { context in
          let people = try context.fetch(FetchRequest("Person"))
          return try withExtendedLifetime(people) { try sum(people) }
        })
    }

    private static var pgWalk: Benchmark {
      ofPeople(
        "pg-walk", "walk objects in PostgreSQL, C: a cursor",
        yardstick: { yardstick_pg_walk(server, "bench_people") },
        subject: { try sum(try $0.fetchedObjects(FetchRequest("Person"))) })
    }

    /// A row over people that are made once.
    private static func ofPeople(
      _ name: String, _ title: String, yardstick: @escaping () -> Int64,
      subject: @escaping (ManagedObjectContext) throws -> Int64
    ) -> Benchmark {
      let people = People()
      return Benchmark(
        name: name, title: title, goal: .ratio(1.5),
        prepare: { workplace in
          if people.areMade { return }
          try drop("bench_people")
          _ = try insertPeople(workplace, try context("bench_people"))
          people.areMade = true
        },
        yardstick: { _ in .number(yardstick()) },
        subject: { _ in
          let context = try context("bench_people")
          return try withExtendedLifetime(context) { .number(try subject(context)) }
        })
    }

    private final class People {
      var areMade = false
    }

    // MARK: Workers

    /// One worker process, compared with two, over a job whose script dominates.
    private static var pgWorkers: Benchmark {
      Benchmark(
        name: "pg-workers", title: "a job over PostgreSQL with two workers, beside one", goal: .ratio(1 / 1.7),
        prepare: beginJob, yardstick: { try work($0, count: 1) }, subject: { try work($0, count: 2) })
    }

    private static let (chunks, objects) = (32, 1600)

    /// Makes a store for each round, so that the job begins anew.
    private static func beginJob(_ workplace: Workplace) throws {
      try drop("bench_job")
      try Data("return { entities = { Item = { attributes = { n = \"integer64\", sum = \"integer64\" } } } }".utf8)
        .write(to: workplace.file("job-model.lua"))
      let script = """
        return { request = "Item", chunk = function(items)
          for _, item in ipairs(items) do
            local sum = 0
            for i = 1, 100000 do sum = sum + (i * item.n) % 7 end
            item.sum = sum
          end
        end }
        """
      try Data(script.utf8).write(to: workplace.file("job.lua"))
      let insertion =
        "for i = 1, \(objects) do moonbase.context:insert('Item', { n = i }) end assert(moonbase.context:save())"
      let store = "\(server)?schema=bench_job"
      _ = try run(workplace, ["run", "--store", store, "--model", "job-model.lua", "-e", insertion])
      let begun = try run(
        workplace, ["batch", "run", "--begin", "job.lua", "--store", store, "--chunk", "\(objects / chunks)"])
      try Data(begun.utf8).write(to: workplace.file("chunks.txt"))
    }

    /// Gives every N-th chunk to each of N workers, and returns the number of objects.
    private static func work(_ workplace: Workplace, count: Int) throws -> Answer {
      let numbers = try String(contentsOf: workplace.file("chunks.txt"), encoding: .utf8).split(separator: "\n")
      let workers = try (0..<count).map { worker in
        let own = numbers.enumerated().filter { $0.offset % count == worker }.map { $0.element + "\n" }.joined()
        try Data(own.utf8).write(to: workplace.file("chunks-\(worker).txt"))
        return try start(
          workplace, ["batch", "worker", "job.lua", "--store", "\(server)?schema=bench_job"], "chunks-\(worker).txt")
      }
      var done: Int64 = 0
      for (process, output) in workers {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("a worker ended with \(process.terminationStatus)") }
        done += Int64(text.split(separator: "\n").count)
      }
      return .number(done)
    }

    private static func start(
      _ workplace: Workplace, _ arguments: [String], _ input: String? = nil
    ) throws -> (Process, Pipe) {
      guard let command = ProcessInfo.processInfo.environment["MOONBASE_COMMAND"] else {
        throw Failure("MOONBASE_COMMAND does not name the command; start this through scripts/bench")
      }
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: command)
      process.arguments = arguments
      process.currentDirectoryURL = workplace.folder
      process.standardOutput = output
      process.standardInput = try input.map { try FileHandle(forReadingFrom: workplace.file($0)) } ?? .nullDevice
      try process.run()
      return (process, output)
    }

    private static func run(_ workplace: Workplace, _ arguments: [String]) throws -> String {
      let (process, output) = try start(workplace, arguments)
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw Failure("\(arguments) ended with \(process.terminationStatus)")
      }
      return text
    }
  }
#else
  extension Benchmark {
    /// No rows: the benchmarks were built without PostgreSQL (`MOONBASE_POSTGRESQL=1`).
    static var postgreSQL: [Benchmark] { [] }
  }
#endif
