import Foundation
import Moonbase
import Yardsticks

/// Requests that a SQLite store executes itself, compared with the statements of a C program.
extension Benchmark {
  static var batches: [Benchmark] { [batchInsert, batchUpdate, batchDelete, cascade, aggregate, open] }

  private static var batchInsert: Benchmark {
    Benchmark(
      name: "store-batch-insert", title: "batch insert request with an object handler", goal: .ratio(1.3),
      prepare: { $0.removeStore("batch.sqlite") },
      yardstick: { .number(yardstick_insert($0.file("batch.sqlite").path, Int64($0.count))) },
      subject: { workplace in
        let context = try Person.context(workplace.file("batch.sqlite"))
        var (row, sum) = (0, Int64(0))
        try context.execute(
          BatchInsertRequest(
            "Person",
            managedObjectHandler: { object in
              guard row < workplace.count, let person = object as? Person else { return true }
              person.fill(row)
              sum += Int64(row % 100)
              row += 1
              return false
            }))
        return .number(sum)
      },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("batch.sqlite").path)) })
  }

  private static var batchUpdate: Benchmark {
    Benchmark(
      name: "store-batch-update", title: "batch update request, C: UPDATE", goal: .ratio(1.1),
      prepare: copyPeople,
      yardstick: {
        .number(
          yardstick_execute($0.file("batch.sqlite").path, "UPDATE ZPERSON SET ZAGE = ZAGE + 1, Z_OPT = Z_OPT + 1"))
      },
      subject: { workplace in
        var request = BatchUpdateRequest("Person")
        request.propertiesToUpdate["age"] = try Expression(format: "age + 1")
        request.resultType = .count
        return .number(Int64(try Person.context(workplace.file("batch.sqlite")).execute(request).count ?? 0))
      },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("batch.sqlite").path)) })
  }

  private static var batchDelete: Benchmark {
    Benchmark(
      name: "store-batch-delete", title: "batch delete request for half of the objects, C: DELETE", goal: .ratio(1.1),
      prepare: copyPeople,
      yardstick: {
        .number(yardstick_execute($0.file("batch.sqlite").path, "DELETE FROM ZPERSON WHERE ZAGE < 50"))
      },
      subject: { workplace in
        var request = BatchDeleteRequest(FetchRequest("Person", where: try Predicate(format: "age < 50")))
        request.resultType = .count
        return .number(Int64(try Person.context(workplace.file("batch.sqlite")).execute(request).count ?? 0))
      },
      inspect: { workplace, _ in .number(yardstick_fetch(workplace.file("batch.sqlite").path)) })
  }

  /// Teams are deleted with their members; tags, which are related by pairs, stay.
  private static var cascade: Benchmark {
    Benchmark(
      name: "store-cascade", title: "batch delete request with delete rules, C: DELETE and its joins",
      goal: .ratio(1.3),
      prepare: { workplace in
        if !FileManager.default.fileExists(atPath: workplace.file("teams.sqlite").path) { try makeTeams(workplace) }
        try workplace.copyStore("teams.sqlite", to: "batch.sqlite")
      },
      yardstick: { workplace in
        let path = workplace.file("batch.sqlite").path
        let pairs = yardstick_execute(
          path, "DELETE FROM Z_1TAGS WHERE Z_1MEMBERS IN (SELECT Z_PK FROM ZMEMBER WHERE ZTEAM IS NOT NULL)")
        let members = yardstick_execute(path, "DELETE FROM ZMEMBER WHERE ZTEAM IN (SELECT Z_PK FROM ZTEAM)")
        return .number(pairs < 0 || members < 0 ? -1 : yardstick_execute(path, "DELETE FROM ZTEAM"))
      },
      subject: { workplace in
        var request = BatchDeleteRequest(FetchRequest("Team"))
        request.resultType = .count
        return .number(Int64(try teams(workplace, "batch.sqlite").execute(request).count ?? 0))
      },
      inspect: { workplace, _ in
        .number(
          yardstick_value(
            workplace.file("batch.sqlite").path,
            "SELECT (SELECT COUNT(*) FROM ZMEMBER) + (SELECT COUNT(*) FROM Z_1TAGS) + 10 * (SELECT COUNT(*) FROM ZTAG)")
        )
      })
  }

  private static var aggregate: Benchmark {
    Benchmark(
      name: "aggregate", title: "sum, greatest and count of all objects as a dictionary, C: SELECT", goal: .ratio(1.05),
      prepare: makePeople,
      yardstick: {
        .number(
          yardstick_value(
            $0.file("people.sqlite").path,
            "SELECT s + m + n FROM (SELECT SUM(ZAGE) s, MAX(ZAGE) m, COUNT(*) n FROM ZPERSON)"))
      },
      subject: { workplace in
        var request = FetchRequest("Person")
        request.resultType = .dictionaries
        request.propertiesToFetch = try [("s", "@sum.age"), ("m", "@max.age"), ("n", "@count")].map {
          FetchColumn($0, expression: try Expression(format: $1))
        }
        let found = try Person.context(workplace.file("people.sqlite")).fetchedDictionaries(request)
        var sum: Int64 = 0
        for row in found {
          for value in row.values {
            guard case .int(let number) = value else { throw Failure("\(value) is no integer") }
            sum += number
          }
        }
        return .number(sum)
      })
  }

  /// Opens the store once per thousand objects of the other rows.
  private static var open: Benchmark {
    Benchmark(
      name: "open", title: "opening a store of 100 entities, C: open, read sqlite_master and Z_METADATA",
      goal: .ratio(3),
      prepare: { workplace in
        guard !FileManager.default.fileExists(atPath: workplace.file("wide.sqlite").path) else { return }
        _ = try SQLiteStore(url: workplace.file("wide.sqlite"), model: try wideModel.resolved())
      },
      yardstick: { .number(yardstick_opens($0.file("wide.sqlite").path, openings($0))) },
      subject: { workplace in
        let model = try wideModel.resolved()
        var count: Int64 = 0
        for _ in 0..<openings(workplace) {
          count += try SQLiteStore(url: workplace.file("wide.sqlite"), model: model).isReadOnly ? 0 : 1
        }
        return .number(count)
      })
  }

  private static func openings(_ workplace: Workplace) -> Int64 { Int64(max(10, workplace.count / 1000)) }

  // MARK: Stores

  private static func copyPeople(_ workplace: Workplace) throws {
    try makePeople(workplace)
    try workplace.copyStore("people.sqlite", to: "batch.sqlite")
  }

  private static let wideModel = ManagedObjectModel(
    entities: (0..<100).map { number in
      EntityDescription("Entity\(number)") {
        for attribute in 0..<10 { AttributeDescription("attribute\(attribute)", type: .string) }
        if number > 0 {
          RelationshipDescription.toOne("parent", destination: "Entity\(number - 1)", inverse: "children")
        }
        if number < 99 {
          RelationshipDescription.toMany("children", destination: "Entity\(number + 1)", inverse: "parent")
        }
      }
    })

  private static func teams(_ workplace: Workplace, _ name: String) throws -> ManagedObjectContext {
    var members = RelationshipDescription.toMany("members", destination: "Member", inverse: "team")
    members.deleteRule = .cascade
    let model = ManagedObjectModel {
      EntityDescription("Member") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toOne("team", destination: "Team", inverse: "members")
        RelationshipDescription.toMany("tags", destination: "Tag", inverse: "members")
      }
      EntityDescription("Tag") { RelationshipDescription.toMany("members", destination: "Member", inverse: "tags") }
      EntityDescription("Team") {
        AttributeDescription("name", type: .string)
        members
      }
    }
    return try ManagedObjectContext(
      PersistentContainer(model: model, store: .sqlite(workplace.file(name))).coordinator)
  }

  /// A hundred members in each team, and one of ten tags for each member.
  private static func makeTeams(_ workplace: Workplace) throws {
    let context = try teams(workplace, "teams.sqlite")
    let tags = try (0..<10).map { _ in try context.insert("Tag") }
    for number in 0..<max(1, workplace.count / 100) {
      let team = try context.insert("Team", values: ["name": .string("Team\(number)")])
      for index in 0..<100 {
        let member = try context.insert("Member", values: ["name": .string("Member \(number) \(index)")])
        try member.setObject(team, forKey: "team")
        try member.add(tags[index % 10], to: "tags")
      }
    }
    try context.save()
  }
}
