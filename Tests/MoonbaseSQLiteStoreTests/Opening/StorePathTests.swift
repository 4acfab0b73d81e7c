import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Paths of stores.
@Suite struct StorePathTests {
  @Test func aParentFolderIsThatOfALinksDestination() throws {
    let folder = try TemporaryFolder()
    let deep = folder.file("real/deep")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: deep)
    let url = URL(fileURLWithPath: "\(folder.url.path)/link/../people.sqlite")
    _ = try SQLiteStore(url: url, model: People.model().resolved())
    #expect(FileManager.default.fileExists(atPath: folder.file("real/people.sqlite").path))
    #expect(!FileManager.default.fileExists(atPath: folder.file("people.sqlite").path))
    #expect(try SQLiteStore.metadata(ofStoreAt: url)["NSStoreType"] == .string("SQLite"))
  }

  @Test(arguments: [true, false]) func aLinkMayLeadToWhereANewStoreIsToBe(isRelative: Bool) throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("real"), withIntermediateDirectories: true)
    let target = isRelative ? "real/people.sqlite" : folder.file("real/people.sqlite").path
    for (link, target) in [("first", "second"), ("second", target)] {
      try FileManager.default.createSymbolicLink(atPath: folder.file(link).path, withDestinationPath: target)
    }
    var photo = EntityDescription("Photo")
    photo.attributes = [
      AttributeDescription("bytes", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true }
    ]
    let model = try ManagedObjectModel(entities: [photo]).resolved()
    let bytes = Value.data(Data(repeating: 7, count: 200_000))
    for name in ["first", "real/people.sqlite"] {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(SQLiteStore(url: folder.file(name), model: model))
      let context = try ManagedObjectContext(coordinator)
      if name == "first" {
        try context.insert("Photo", values: ["bytes": bytes])
        try context.save()
      }
      #expect(try context.fetch(FetchRequest("Photo")).map { try $0.value(forKey: "bytes") } == [bytes])
    }
    #expect(FileManager.default.fileExists(atPath: folder.file("real/.people_SUPPORT").path))
    let circle = folder.file("circle")
    try FileManager.default.createSymbolicLink(atPath: circle.path, withDestinationPath: "circle")
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: circle, model: model) }
    #expect(error?.code == .cannotOpenFile)
  }

  /// The copy's objects have the same IDs as the original's.
  @Test func aCopyBesideItsOriginalIsRefusedUntilItHasAUUIDOfItsOwn() throws {
    let folder = try TemporaryFolder()
    let (model, copy) = (try People.model().resolved(), folder.file("copy.sqlite"))
    func add(_ name: String, to coordinator: PersistentStoreCoordinator) throws {
      try coordinator.add(SQLiteStore(url: folder.file(name), model: model))
    }
    try add("first.sqlite", to: PersistentStoreCoordinator(model: model))
    try FileManager.default.copyItem(at: folder.file("first.sqlite"), to: copy)
    let bytes = try Data(contentsOf: copy)
    let coordinator = PersistentStoreCoordinator(model: model)
    try add("first.sqlite", to: coordinator)
    let error = #expect(throws: GraphError.self) { try add("copy.sqlite", to: coordinator) }
    let uuid = coordinator.persistentStores[0].identifier
    for part in ["first.sqlite", "copy.sqlite", uuid, "copies of one store", "container of its own"] {
      #expect(error?.message.contains(part) == true, "\(error as Any)")
    }
    #expect(error?.code == .invalidRequest && coordinator.persistentStores.count == 1)
    #expect(try Data(contentsOf: copy) == bytes)
    try add("copy.sqlite", to: PersistentStoreCoordinator(model: model))
    let update = "UPDATE Z_METADATA SET Z_UUID = '\(UUID().uuidString)'"
    #expect(try ChildProcess.run(named: "sqlite3", [copy.path, update]).status == 0)
    try add("copy.sqlite", to: coordinator)
    #expect(coordinator.persistentStores.count == 2)
  }

  @Test func aFileIsAddedOnceByWhicheverPath() throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file("people.sqlite"), model: model))
    try FileManager.default.createSymbolicLink(
      at: folder.file("link.sqlite"), withDestinationURL: folder.file("people.sqlite"))
    let again = URL(fileURLWithPath: "\(folder.url.path)/./people.sqlite")
    for url in [folder.file("people.sqlite"), folder.file("link.sqlite"), again] {
      let error = #expect(throws: GraphError.self) { try coordinator.add(SQLiteStore(url: url, model: model)) }
      #expect(error?.code == .invalidRequest && error?.message.contains("people.sqlite") == true)
      #expect(error?.message.contains("are one file: open it once") == true, "\(error as Any)")
    }
    #expect(coordinator.persistentStores.count == 1)
  }

  @Test(arguments: [
    (String(repeating: "s", count: 240) + ".sqlite", nil), (String(repeating: "s", count: 246), nil),
    (String(repeating: "s", count: 241) + ".sqlite", "1 byte,"), (String(repeating: "s", count: 247), "1 byte,"),
    (String(repeating: "é", count: 124) + ".sqlite", "8 bytes,"), (String(repeating: "s", count: 255), "9 bytes,"),
  ])
  func aNameThatLeavesNoRoomForWhatLiesBesideTheStoreIsRefused(_ name: String, _ excess: String?) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    guard let excess else {
      _ = try SQLiteStore(url: folder.file(name), model: model)
      return
    }
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: folder.file(name), model: model) }
    #expect(error?.code == .cannotOpenFile)
    #expect(error?.message.contains("cannot be made: the name is too long by \(excess)") == true, "\(error as Any)")
    #expect(try folder.contents().isEmpty)
  }

  @Test(arguments: [true, false])
  func whatIsNoFileIsRefusedAtOnce(readOnly: Bool) throws {
    let folder = try TemporaryFolder()
    try #require(mkfifo(folder.file().path, 0o600) == 0)
    let model = try People.model().resolved()
    for (url, kind) in [(folder.file(), "pipe"), (URL(fileURLWithPath: "/dev/null"), "device")] {
      let error = #expect(throws: GraphError.self) {
        try SQLiteStore(url: url, model: model, options: .init(readOnly: readOnly))
      }
      #expect(error?.code == .cannotOpenFile)
      #expect(error?.message.contains("is a \(kind), not a store") == true)
      #expect(throws: GraphError.self) { try SQLiteStore.metadata(ofStoreAt: url) }
    }
  }

  @Test func aStoreThatIsOnlyReadDoesNotKeepTheSameProgramFromWritingIt() throws {
    let copy = try TemporaryFolder()
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    // A log and its index without a living process, as a kill leaves them.
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(
        at: people.folder.file("store.sqlite\(suffix)"), to: copy.file("store.sqlite\(suffix)"))
    }
    let reader = try SQLiteStore(url: copy.file(), model: people.model, options: .init(readOnly: true))
    #expect(try reader.count(matching: people.query("Person")) == 1)
    let writer = try SQLiteStore(url: copy.file(), model: people.model)
    #expect(try writer.reserveKeys(for: people.entity("Person"), count: 1) == 2)
    #expect(try reader.count(matching: people.query("Person")) == 1)
  }

  @Test(arguments: ["-wal", "-shm", "-journal"])
  func whatLiesWhereSQLiteKeepsItsOwnFilesIsRefusedAtOnce(suffix: String) throws {
    let people = try PeopleStore()
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(at: people.folder.file(), to: folder.file())
    let outside = folder.file("outside")
    try Data("not SQLite's".utf8).write(to: outside)
    for (kind, make) in [
      ("link", { symlink(outside.path, $0) }), ("pipe", { mkfifo($0, 0o600) }),
      ("second name of another file", { link(outside.path, $0) }),
      ("second name of another file", { link(folder.file().path, $0) }),
    ] as [(String, (String) -> Int32)] {
      let path = folder.file().path + suffix
      try #require(make(path) == 0)
      for readOnly in [true, false] {
        let error = #expect(throws: GraphError.self) {
          try SQLiteStore(url: folder.file(), model: people.model, options: .init(readOnly: readOnly))
        }
        #expect(error?.message.contains("store.sqlite\(suffix) is a \(kind), where") == true)
      }
      let error = #expect(throws: GraphError.self) { try SQLiteStore.metadata(ofStoreAt: folder.file()) }
      #expect(error?.code == .cannotOpenFile)
      unlink(path)
    }
    #expect(try Data(contentsOf: outside) == Data("not SQLite's".utf8))
  }

  @Test func whatSQLiteTakesForSomethingElseThanAFileIsRefusedWithAdvice() throws {
    let model = try People.model().resolved()
    for (path, advice) in [
      (":memory:", ".inMemory"), ("file:people.sqlite", "without file:"),
      ("file:///people.sqlite?mode=ro", "parameters"), ("people\0.sqlite", "zero byte"),
    ] {
      let error = #expect(throws: GraphError.self) { try SQLiteStore(url: URL(fileURLWithPath: path), model: model) }
      #expect(error?.code == .cannotOpenFile)
      #expect(error?.message.contains(advice) == true)
    }
    let folder = try TemporaryFolder()
    #expect(throws: Never.self) { try SQLiteStore(url: folder.file(":memory:"), model: model) }
    #expect(throws: Never.self) { try SQLiteStore(url: folder.file("a%00b"), model: model) }
    #expect(Set([":memory:", "a%00b"]).isSubset(of: try folder.contents().keys))
  }

  @Test func aLinkedStoreHasItsLogAndItsSupportFolderWhereTheFileIs() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(at: folder.file("link.sqlite"), withDestinationURL: people.folder.file())
    let reader = try SQLiteStore(url: folder.file("link.sqlite"), model: people.model, options: .init(readOnly: true))
    #expect(try reader.count(matching: people.query("Person")) == 1)
    let writer = try SQLiteStore(url: folder.file("link.sqlite"), model: people.model)
    _ = try writer.reserveKeys(for: people.entity("Person"), count: 1)
    #expect(try Array(folder.contents().keys) == ["link.sqlite"])
  }

  @Test(arguments: [true, false])
  func aStoreWhoseFileIsReplacedRefusesToSave(byAnother: Bool) throws {
    let people = try PeopleStore()
    let row = try people.row("Person")
    try FileManager.default.removeItem(at: people.folder.file())
    if byAnother { try Data().write(to: people.folder.file()) }
    let error = #expect(throws: GraphError.self) { try people.insert(row) }
    #expect(error?.code == .storeFailure)
    #expect(error?.message.contains("moved, replaced or deleted") == true)
    #expect(throws: GraphError.self) { try people.store.reserveKeys(for: people.entity("Person"), count: 1) }
  }

  @Test func anEntityOfMorePropertiesThanATableHasColumnsIsRefusedAndNoFileIsMade() throws {
    let folder = try TemporaryFolder()
    var model = People.model()
    model.entities[0].attributes += (0..<2000).map { AttributeDescription("extra\($0)", type: .string) }
    let resolved = try model.resolved()
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: folder.file(), model: resolved) }
    #expect(error?.entity == "Person")
    #expect(error?.message.contains("a SQLite table holds 2000") == true)
    #expect(try folder.contents().isEmpty)
  }
}
