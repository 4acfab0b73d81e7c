import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Saves refused by constraints and triggers of the file that are not in the model.
@Suite struct FileRefusalTests {
  private func failure(_ store: TaggedStore, _ change: (inout StoreChanges) throws -> Void) throws -> GraphError? {
    let before = try store.contents()
    let error = #expect(throws: GraphError.self) { try store.people.save(change) }
    #expect(try store.contents() == before)
    return error
  }

  @Test(
    arguments: [
      "CREATE UNIQUE INDEX one ON Z_1TAGS (Z_2TAGS)",
      "CREATE TRIGGER one BEFORE INSERT ON Z_1TAGS WHEN NEW.Z_1PS = 2 AND NEW.Z_2TAGS = 8 BEGIN SELECT RAISE(ABORT, 'no'); END",
    ], [1, 20])
  func aPairThatTheFileRefusesIsNamedAndNothingIsSaved(_ sql: String, _ count: Int) throws {
    let store = try TaggedStore()
    try store.people.save { $0.links = [store.links(0, added: [store.tags[7]])] }
    try store.raw.connection.execute(sql)
    let error = try failure(store) {
      $0.updated = [try store.people.update(store.owners[0], ["n": 9])]
      $0.links = [store.links(1, added: count == 1 ? [store.tags[7]] : store.tags)]
    }
    #expect(error?.code == .constraintConflict && error?.entity == "P" && error?.property == "tags")
    #expect(error?.objectID == store.owners[1])
    #expect(
      error?.message.contains("that tags takes in \(store.tags[7]), by a trigger or a rule") == true, "\(error as Any)")
  }

  @Test func aTriggerThatEndsTheTransactionLeavesNothingOfTheSave() throws {
    let store = try TaggedStore()
    try store.raw.connection.execute(
      "CREATE TRIGGER one BEFORE INSERT ON Z_1TAGS WHEN NEW.Z_2TAGS = 8 BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
    let error = try failure(store) { $0.links = [store.links(1, added: store.tags)] }
    #expect(error?.code == .constraintConflict && error?.objectID == store.owners[1])
  }

  @Test func aDestinationThatTheFileAllowsOneOwnerCanPassFromOneToTheOtherWithinASave() throws {
    let store = try TaggedStore()
    try store.people.save { $0.links = [store.links(1, added: store.tags)] }
    try store.raw.connection.execute("CREATE UNIQUE INDEX one ON Z_1TAGS (Z_2TAGS)")
    try store.people.save { $0.links = [store.links(0, added: store.tags), store.links(1, removed: store.tags)] }
    #expect(try store.raw.rows("SELECT DISTINCT Z_1PS FROM Z_1TAGS") == ["\(store.owners[0].key)"])
  }

  @Test(arguments: [false, true])
  func aPairThatIsThereAlreadyIsLeftAsItIs(_ hasKey: Bool) throws {
    let store = try TaggedStore()
    if !hasKey {
      try store.raw.connection.executeScript(
        "DROP TABLE Z_1TAGS; CREATE TABLE Z_1TAGS (Z_1PS INTEGER, Z_2TAGS INTEGER)")
    }
    try store.people.save { $0.links = [store.links(0, added: [store.tags[3]])] }
    for _ in 0..<2 { try store.people.save { $0.links = [store.links(0, added: store.tags)] } }
    #expect(try store.raw.value("SELECT COUNT(*) FROM Z_1TAGS") == "20")
  }

  enum Ignored: String, CaseIterable {
    case insertion = "INSERT ON ZP"
    case update = "UPDATE ON ZP"
    case deletion = "DELETE ON ZP"
    case pair = "INSERT ON Z_1TAGS"
    case removal = "DELETE ON Z_1TAGS"
    case removalWithOwner = "DELETE ON Z_1TAGS WHEN OLD.Z_1PS > 0"
  }

  @Test(arguments: Ignored.allCases)
  func whatATriggerIgnoresIsNotToldAsSaved(_ what: Ignored) throws {
    let store = try TaggedStore()
    let people = store.people
    try people.save { $0.links = [store.links(0, added: [store.tags[0]])] }
    try store.raw.connection.execute("CREATE TRIGGER i BEFORE \(what.rawValue) BEGIN SELECT RAISE(IGNORE); END")
    let new = try people.row("P")
    let other = try people.row("T")
    let error = try failure(store) {
      $0.inserted = [other]
      switch what {
      case .insertion: $0.inserted.append(new)
      case .update: $0.updated = [try people.update(store.owners[0], ["n": 9])]
      case .deletion, .removalWithOwner: $0.deleted = [.init(id: store.owners[0], expectedVersion: 1)]
      case .pair: $0.links = [store.links(0, added: store.tags)]
      case .removal: $0.links = [store.links(0, removed: [store.tags[0]])]
      }
    }
    #expect(error?.code == .constraintConflict && error?.entity == "P")
    #expect(error?.objectID == (what == .insertion ? new.id : store.owners[0]))
    #expect(error?.message.contains("the file ignores ") == true && error?.message.contains("trigger") == true)
  }

  @Test func anIgnoredChangeWithoutAnExpectedVersionIsToldToo() throws {
    let store = try TaggedStore()
    try store.raw.connection.execute("CREATE TRIGGER i BEFORE DELETE ON ZP BEGIN SELECT RAISE(IGNORE); END")
    let error = try failure(store) { $0.deleted = [.init(id: store.owners[0], expectedVersion: nil)] }
    #expect(error?.message.contains("ignores its deletion") == true)
  }

  @Test func aDeletionThatATriggerRefusesNamesTheObject() throws {
    let store = try TaggedStore()
    try store.raw.connection.execute("CREATE TRIGGER i BEFORE DELETE ON ZP BEGIN SELECT RAISE(ABORT, 'P stay'); END")
    let error = try failure(store) { $0.deleted = [.init(id: store.owners[1], expectedVersion: 1)] }
    #expect(error?.code == .constraintConflict && error?.entity == "P" && error?.objectID == store.owners[1])
    #expect(
      error?.message == "\(store.owners[1]): the file refuses its deletion, by a trigger or a rule of its own: P stay")
  }
}
