import Foundation
import Moonbase
import Yardsticks

/// Objects through a context and the SQLite store, compared with the bare table.
extension Benchmark {
  static var store: [Benchmark] { [insert, insertAhead, fetch, keptAlive, fetchFaults, keptFaults, objectByID] }

  private static var insert: Benchmark {
    Benchmark(
      name: "insert", title: "insert objects through a context, save", goal: .oneCore(2, twoCores: 1.5),
      prepare: { $0.removeStore("insert.sqlite") },
      yardstick: { .number(yardstick_insert($0.file("insert.sqlite").path, Int64($0.count))) },
      subject: { .number(try insertPeople($0, "insert.sqlite")) },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("insert.sqlite").path)) })
  }

  /// Inserts in chunks with background saves, where there is more than one core.
  private static var insertAhead: Benchmark {
    Benchmark(
      name: "insert-ahead", title: "insert objects through a context, saved ahead by 10,000",
      goal: .oneCore(2, twoCores: 1.5),
      prepare: { $0.removeStore("insert.sqlite") },
      yardstick: { .number(yardstick_insert($0.file("insert.sqlite").path, Int64($0.count))) },
      subject: { .number(try insertPeople($0, "insert.sqlite", ahead: 10_000)) },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("insert.sqlite").path)) })
  }

  /// Objects are released window by window.
  private static var fetch: Benchmark {
    Benchmark(
      name: "fetch", title: "walk fetched objects, read every attribute", goal: .oneCore(1.5, twoCores: 1.2),
      prepare: makePeople,
      yardstick: { .number(yardstick_fetch($0.file("people.sqlite").path)) },
      subject: { workplace in
        let context = try Person.context(workplace.file("people.sqlite"))
        return .number(try sum(try context.fetchedObjects(FetchRequest("Person"))))
      })
  }

  /// A fetch that keeps all objects and their values until the end.
  private static var keptAlive: Benchmark {
    Benchmark(
      name: "kept-alive", title: "fetch objects, read every attribute, keep them all", goal: .none,
      prepare: makePeople,
      yardstick: { .number(yardstick_fetch($0.file("people.sqlite").path)) },
      subject: { workplace in
        let context = try Person.context(workplace.file("people.sqlite"))
        let people = try context.fetch(FetchRequest("Person"))
        return try withExtendedLifetime(people) { .number(try sum(people)) }
      })
  }

  /// Only the keys are read: objects are made on access.
  private static var fetchFaults: Benchmark {
    faults("fetch-faults", "fetch keys, objects on access, C: select the keys", goal: .ratio(1.3)) {
      try $0.fetchedObjects($1).count
    }
  }

  /// A fetch that makes all objects as faults.
  private static var keptFaults: Benchmark {
    faults("kept-faults", "fetch objects as faults, keep them all, C: select the keys", goal: .none) {
      try $0.fetch($1).count
    }
  }

  private static func faults(
    _ name: String, _ title: String, goal: Goal,
    count: @escaping (ManagedObjectContext, FetchRequest) throws -> Int
  ) -> Benchmark {
    Benchmark(
      name: name, title: title, goal: goal, prepare: makePeople,
      yardstick: { .number(yardstick_fetch_keys($0.file("people.sqlite").path)) },
      subject: { workplace in
        var request = FetchRequest("Person")
        request.includesPropertyValues = false
        return .number(Int64(try count(try Person.context(workplace.file("people.sqlite")), request)))
      })
  }

  /// Reads objects individually in scattered order, so that hardly any is in the row cache.
  private static var objectByID: Benchmark {
    let ids = IDs()
    return Benchmark(
      name: "object-by-id", title: "object by ID from the store, C: a point select", goal: .ratio(2),
      prepare: { workplace in
        try makePeople(workplace)
        if ids.all.isEmpty {
          ids.all = try Person.context(workplace.file("people.sqlite")).fetchIDs(FetchRequest("Person"))
        }
      },
      yardstick: { .number(yardstick_fetch_by_key($0.file("people.sqlite").path, Int64($0.count), stride)) },
      subject: { workplace in
        let context = try Person.context(workplace.file("people.sqlite"))
        var sum: Int64 = 0
        for index in 0..<workplace.count {
          let id = ids.all[(index * Int(stride)) % workplace.count]
          guard let person = try context.existingObject(with: id) as? Person else { throw Failure("\(id) is gone") }
          sum += person[Person.ageKey]
        }
        return .number(sum)
      })
  }

  /// The distance between rows read in scattered order.
  private static let stride: Int64 = 7919

  private final class IDs {
    var all: [ManagedObjectID] = []
  }

  // MARK: Work

  static func makePeople(_ workplace: Workplace) throws {
    guard !FileManager.default.fileExists(atPath: workplace.file("people.sqlite").path) else { return }
    _ = try insertPeople(workplace, "people.sqlite")
  }

  /// With `ahead`, saves every so many objects in the background while others are made.
  private static func insertPeople(_ workplace: Workplace, _ name: String, ahead: Int? = nil) throws -> Int64 {
    try insertPeople(workplace, try Person.context(workplace.file(name)), ahead: ahead)
  }

  /// Inserts people into a context, and saves.
  static func insertPeople(
    _ workplace: Workplace, _ context: ManagedObjectContext, ahead: Int? = nil
  ) throws -> Int64 {
    var sum: Int64 = 0
    for row in 0..<workplace.count {
      guard let person = try context.insert("Person") as? Person else { throw Failure("the class is not Person") }
      person.fill(row)
      sum += person[Person.ageKey]
      if let ahead, row % ahead == ahead - 1 { try context.saveAhead() }
    }
    try context.save()
    return sum
  }

  /// The ages and the lengths of texts and data, with every attribute read.
  static func sum(_ people: some Sequence<ManagedObject>) throws -> Int64 {
    var sum: Int64 = 0
    var kept = 0.0
    for case let person as Person in people {
      sum += person[Person.ageKey] + Int64(person[Person.firstNameKey].utf8.count)
      sum += Int64(person[Person.lastNameKey].utf8.count + person[Person.colorKey].count)
      kept += person[Person.bornKey].timeIntervalSinceReferenceDate + person[Person.heightKey]
    }
    // The values must be used, or else the compiler could drop the reads.
    guard kept.isFinite else { throw Failure("the sum of the dates is no number") }
    return sum
  }
}
