import MoonbaseFaultyDisk
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Disk failures while a store is opened or checked as a whole: whichever step fails, the error is a `GraphError` that
/// names the file.
@Suite struct FailingOpeningTests {
  struct Fault: CustomTestStringConvertible {
    let step: FaultyDisk.Step
    let code: Int32
    var lasts = false
    var testDescription: String { "\(step.rawValue), \(code)" }
  }

  private static let faults = [
    Fault(step: .open, code: 14), Fault(step: .open, code: 1544, lasts: true), Fault(step: .read, code: 266),
    Fault(step: .read, code: 11), Fault(step: .lock, code: 3850), Fault(step: .mapLog, code: 5386),
    Fault(step: .lockLog, code: 3850), Fault(step: .write, code: 13, lasts: true), Fault(step: .truncate, code: 1546),
  ]

  enum Way: String, CaseIterable {
    case writing, reading, metadata, newMetadata, check, repair, backup, replacement, plan, migration, facts, query
  }

  private let folder: TemporaryFolder
  private let model: ResolvedModel

  init() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person", ["age": 3]))
    (folder, model) = (try TemporaryFolder(), people.model)
    for name in ["store.sqlite", "old.sqlite"] {
      try RawDatabase(people.folder.file()).connection.executeScript("VACUUM INTO '\(folder.file(name).path)'")
      try #require(Connection(folder.file(name).path).text("PRAGMA journal_mode = WAL") == "wal")
    }
  }

  private func run(_ way: Way) throws {
    let url = folder.file()
    switch way {
    case .writing, .reading:
      let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: way == .reading))
      _ = try store.count(matching: StoreQuery(entity: #require(model.entity("Person")), in: model))
    case .metadata: _ = try SQLiteStore.metadata(ofStoreAt: url)
    case .newMetadata: try SQLiteStore.setMetadata(["a": 1], ofStoreAt: url)
    case .check: try StoreCheck(storeAt: url, model: model) { _ in }.run()
    case .repair: try StoreRepair.run(storeAt: url, model: model, allowsCloudKit: false)
    case .backup: try SQLiteStore.backUp(storeAt: url, to: folder.file("old.sqlite"), replacing: true)
    case .replacement: try SQLiteStore.replace(storeAt: folder.file("old.sqlite"), withStoreFrom: url)
    case .plan: _ = try SQLiteStore.migrationPlan(forStoreAt: url, to: model)
    case .migration: try SQLiteStore.migrate(storeAt: url, to: model)
    case .facts: _ = try SQLiteStore.facts(ofStoreAt: url, model: model)
    case .query: while try NamedQuery("SELECT * FROM Person", ofStoreAt: url, model: model).next() == nil {}
    }
  }

  @Test(arguments: faults, Way.allCases) func theErrorNamesTheFile(_ fault: Fault, _ way: Way) throws {
    let disk = try FaultyDisk(folder)
    for number in 0..<200 {
      disk.fail(fault.step, after: number, code: fault.code, lasting: fault.lasts)
      let outcome = Result { try run(way) }
      let failures = disk.heal()
      if case .failure(let error) = outcome {
        let error = try #require(error as? GraphError, "\(number): \(error)")
        #expect(error.message.contains(folder.url.path), "\(number): \(error)")
      }
      if failures == 0 { break }
    }
    #expect(try RawDatabase(folder.file()).value("SELECT COUNT(*) FROM ZPERSON") == "1")
  }
}
