import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// A migration that stops early leaves the store unchanged.
@Suite struct MigrationFailureTests {
  private struct Stop: Error {}

  private let store: MigratedStore
  private let old: ManagedObjectModel
  private let new: ManagedObjectModel

  init() throws {
    store = try MigratedStore()
    old = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("email", type: .string)
        AttributeDescription("photo", type: .binaryData)
      }
    }
    new = old.changed { model in
      model[entity: "Person"].attributes[1].allowsExternalBinaryDataStorage = true
      model[entity: "Person"].attributes.append(AttributeDescription("name", type: .string))
    }
    try store.fill(old) { context in
      for number in 0..<3 {
        try context.insert(
          "Person", values: ["email": "a", "photo": .data(Data(repeating: UInt8(number), count: 200_000))])
      }
    }
  }

  private func migration(_ progress: MigrationProgress) throws -> StoreMigration {
    StoreMigration(
      file: StoreFile(url: store.url), sources: [], stages: [try new.resolved()], configuration: nil,
      progress: progress)
  }

  @Test func eachStepMayFail() throws {
    let before = try store.folder.contents()
    var steps: [String] = []
    for failing in 0... {
      var count = 0
      let progress = MigrationProgress(nil) { step in
        if count == failing { throw Stop() }
        count += 1
        steps.append(step)
      }
      do {
        try migration(progress).run()
        break
      } catch is Stop {
        #expect(try store.folder.contents() == before)
        steps = []
      }
    }
    #expect(steps == ["copy", "tables", "rows of Person", "relationships", "indexes", "numbers", "swap"])
    try store.using(new) { context in
      let photos = try context.fetch(FetchRequest("Person")).map { try $0.value(forKey: "photo") }
      #expect(Set(photos) == Set((0..<3).map { .data(Data(repeating: UInt8($0), count: 200_000)) }))
    }
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: store.folder.file(".store_SUPPORT/_EXTERNAL_DATA").path
      ).count == 3)
  }

  @Test func aProgressCancelsAMigrationAndSaysHowFarItIs() throws {
    let before = try store.folder.contents()
    let progress = Progress(totalUnitCount: 1)
    progress.cancel()
    #expect(throws: CancellationError.self) {
      try SQLiteStore.migrate(storeAt: store.url, to: new.resolved(), progress: progress)
    }
    #expect(try store.folder.contents() == before)
    let other = Progress(totalUnitCount: 1)
    try SQLiteStore.migrate(storeAt: store.url, to: new.resolved(), progress: other)
    #expect(other.isFinished && other.totalUnitCount == 6)
  }

  @Test func whatADeathLeftBesideTheStoreGoesWithTheNextMigration() throws {
    let left = ["store.sqlite-1.migration", "store.sqlite-1.migration-wal", "store.sqlite-1.migration-shm"]
    let others = ["store.sqlite-1.replacement", "other.sqlite-1.migration"]
    for name in left + others { try Data([1]).write(to: store.folder.file(name)) }
    try store.migrate(to: new)
    #expect(try store.folder.contents().keys.sorted() == ([".store_SUPPORT", "store.sqlite"] + others).sorted())
  }

  @Test func valuesThatMustBeUniqueNowAreNot() throws {
    let before = try store.folder.contents()
    let unique = old.changed { $0[entity: "Person"].uniquenessConstraints = [["email"]] }
    let error = #expect(throws: GraphError.self) { try store.migrate(to: unique) }
    #expect(error?.code == .constraintConflict)
    let conflict =
      "Person.email: 3 rows have what others have too, as \"a\" (the first is row 1), and it must be unique"
    #expect(error?.details.map(\.message) == [conflict] && error?.entity == "Person" && error?.property == "email")
    #expect(try store.plan(to: unique).description == "~ Person (3 rows): + uniqueness of email\n! \(conflict)")
    #expect(try store.folder.contents() == before)
  }

  /// Uniqueness is checked with the migrated values, after conversion, renaming and defaults, and across subentities.
  @Test func valuesAreUniqueOrNotAsTheyWillBe() throws {
    let kinds = ManagedObjectModel {
      EntityDescription("Animal") {
        AttributeDescription("name", type: .string)
        AttributeDescription("tag", type: .string)
      }
      EntityDescription("Dog", parent: "Animal") {}
    }
    let zoo = try MigratedStore()
    try zoo.fill(kinds) { context in
      for (entity, name, tag) in [("Animal", "a", "1"), ("Dog", "a", "01"), ("Dog", "b", "2"), ("Dog", "", "")] {
        let animal = try context.insert(entity)
        if !name.isEmpty { try animal.setValue(.string(name), forKey: "name") }
        if !tag.isEmpty { try animal.setValue(.string(tag), forKey: "tag") }
      }
    }
    func conflicts(_ change: (inout EntityDescription) -> Void) throws -> [String] {
      try zoo.plan(to: kinds.changed { change(&$0[entity: "Animal"]) }).conflicts.map(\.description)
    }
    #expect(try conflicts { $0.uniquenessConstraints = [["tag"], ["name", "tag"]] } == [])
    #expect(
      try conflicts {
        $0.attributes[0].renamingIdentifier = "name"
        $0.attributes[0].name = "called"
        $0.uniquenessConstraints = [["called"]]
      } == ["Animal.called: 2 rows have what others have too, as \"a\" (the first is row 1), and it must be unique"])
    #expect(
      try conflicts {
        $0.attributes[1].type = .integer16
        $0.uniquenessConstraints = [["name", "tag"]]
      } == [
        "Animal.name, tag: 2 rows have what others have too, as \"a\", 1 (the first is row 1), and it must be unique"
      ])
    #expect(
      try conflicts {
        $0.attributes.append(AttributeDescription("rank", type: .integer16).with { $0.defaultValue = 7 })
        $0.uniquenessConstraints = [["rank"]]
      } == ["Animal.rank: 4 rows have what others have too, as 7 (the first is row 1), and it must be unique"])
    // A constraint that existed before is not checked again.
    let unique = kinds.changed { $0[entity: "Animal"].uniquenessConstraints = [["tag"]] }
    try zoo.migrate(to: unique)
    try zoo.migrate(
      to: unique.changed { $0[entity: "Dog"].attributes = [AttributeDescription("age", type: .integer16)] })
    #expect(try RawDatabase(zoo.url).rows("SELECT COUNT(*) FROM ZANIMAL") == ["4"])
  }

  @Test func aStoreThatSomebodyHasOpenIsNotMigrated() throws {
    try store.using(old) { _ in
      let error = #expect(throws: GraphError.self) { try store.migrate(to: new) }
      #expect(error?.code == .invalidRequest)
    }
    // SQLite lets another connection, as of another process, read in the meantime.
    let reader = try Connection(store.url.path, mode: .readWrite)
    try reader.beginReading()
    _ = try reader.integer("SELECT COUNT(*) FROM ZPERSON")
    let busy = #expect(throws: GraphError.self) { try store.migrate(to: new) }
    #expect(busy?.code == .storeBusy)
    reader.endReading()
  }

  @Test func whoHadTheOldFileOpenIsToldAtTheNextSession() throws {
    let model = try old.resolved()
    let open = try SQLiteStore(url: store.url, model: model, options: SQLiteStoreOptions(readOnly: true))
    // Another process migrates the store: simulated by a replacement of the file, as a migration does.
    let other = try MigratedStore()
    try SQLiteStore.replace(storeAt: other.url, withStoreFrom: store.url)
    try other.migrate(to: new)
    #expect(rename(other.url.path, store.url.path) == 0)
    let error = #expect(throws: GraphError.self) {
      _ = try open.count(matching: StoreQuery(entity: #require(model.entity("Person")), in: model))
    }
    #expect(error?.code == .storeFailure)
    #expect(error?.message.contains("replaced") == true)
  }

  @Test func aRowOfAnEntityThatNobodyKnowsStopsAMigration() throws {
    let kinds = ManagedObjectModel {
      EntityDescription("Animal") { AttributeDescription("name", type: .string) }
      EntityDescription("Dog", parent: "Animal") {}
    }
    let zoo = try MigratedStore()
    try zoo.fill(kinds) { try $0.insert("Dog") }
    try RawDatabase(zoo.url).connection.execute("UPDATE ZANIMAL SET Z_ENT = 9")
    let error = #expect(throws: GraphError.self) {
      try zoo.migrate(
        to: kinds.changed { $0[entity: "Dog"].attributes = [AttributeDescription("age", type: .integer16)] })
    }
    #expect(error?.code == .invalidStore && error?.message.contains("row 1 of ZANIMAL") == true)
  }
}
