import MoonbaseFaultyDisk
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Disk failures during a migration: each fault is tried at the first disk step, then at a later one, until the
/// migration succeeds.
@Suite struct FailingDiskMigrationTests {
  private static let faults = [
    FailingDiskTests.Fault(step: .write, code: 13, lasts: true, stride: 9),
    FailingDiskTests.Fault(step: .write, code: 778, stride: 9),
    FailingDiskTests.Fault(step: .open, code: 14), FailingDiskTests.Fault(step: .lock, code: 3850),
  ]

  @Test(arguments: faults, [false, true])
  func aStepThatFailsLeavesTheStoreAsItWas(_ fault: FailingDiskTests.Fault, _ isMapped: Bool) throws {
    let world = try MappedStore()
    let disk = try FaultyDisk(world.store.folder)
    let before = try world.everything()
    var failures = 0
    for number in 0... {
      disk.fail(fault.step, after: number * fault.stride, code: fault.code, lasting: fault.lasts)
      let outcome = Result {
        if isMapped { try world.migrate() } else { try world.store.migrate(to: Self.slightlyNewer, allowsLoss: true) }
      }
      failures += disk.heal()
      guard case .failure(let error) = outcome else { break }
      #expect(error is GraphError, "\(number): \(error)")
      try #require(world.everything() == before, "\(number): \(error)")
    }
    #expect(failures > 0, "no step failed")
    let raw = try RawDatabase(world.store.url)
    #expect(try raw.rows("PRAGMA integrity_check") == ["ok"])
    #expect(try raw.rows("SELECT COUNT(*) FROM \(isMapped ? "ZHUMAN" : "ZPERSON")") == ["3"])
  }

  private static let slightlyNewer = MappedStore.old.changed {
    $0[entity: "Person"].attributes[2].type = .integer16
  }
}
