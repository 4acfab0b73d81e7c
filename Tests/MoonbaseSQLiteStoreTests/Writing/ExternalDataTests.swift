import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Values in external files beside the store.
@Suite struct ExternalDataTests {
  let folder: TemporaryFolder
  let model: ResolvedModel
  let coordinator: PersistentStoreCoordinator
  private let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })

  init() throws {
    folder = try TemporaryFolder()
    var photo = EntityDescription("Photo")
    var bytes = AttributeDescription("bytes", type: .binaryData)
    bytes.allowsExternalBinaryDataStorage = true
    var secret = AttributeDescription("secret", type: .transformable)
    secret.valueTransformerName = "OfTheApp"
    secret.allowsExternalBinaryDataStorage = true
    photo.attributes = [bytes, secret, AttributeDescription("name", type: .string)]
    model = try ManagedObjectModel(entities: [photo]).resolved()
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file(), model: model))
  }

  private var support: URL { folder.file(".store_SUPPORT/_EXTERNAL_DATA") }
  private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: support.path)) ?? [] }

  /// A new context over the newly opened store, so that all values come from the file.
  private func fresh() throws -> ManagedObjectContext {
    let other = PersistentStoreCoordinator(model: model)
    try other.add(SQLiteStore(url: folder.file(), model: model))
    return try ManagedObjectContext(other)
  }

  private func photo(_ context: ManagedObjectContext, _ name: String = "a") throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest("Photo", where: "name == %@", .string(name))).first)
  }

  /// A value as a new context reads it.
  private func saved(_ key: String = "bytes", of name: String = "a") throws -> Value {
    let context = try fresh()
    defer { withExtendedLifetime(context) {} }
    return try photo(context, name).value(forKey: key)
  }

  private func insert(_ names: String...) throws {
    let context = try ManagedObjectContext(coordinator)
    for name in names { _ = try context.insert("Photo", values: ["name": .string(name), "bytes": .data(large)]) }
    try context.save()
  }

  @Test func filesAndTheirNamesAreOnTheDiskBeforeTheCommit() throws {
    let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
    let log = Lock<[String]>([])
    store.statements.listen { sql in log.withLock { $0.append(sql) } }
    store.statements.listenToFiles { step, _ in
      if step == .synchronize { log.withLock { $0.append("file") } }
      if step == .synchronizeFolder { log.withLock { $0.append("folder") } }
      return 0
    }
    defer {
      store.statements.listen(nil)
      store.statements.listenToFiles(nil)
    }
    try insert("a", "b")
    let order = log.withLock { $0.filter { ["file", "folder", "COMMIT"].contains($0) } }
    #expect(order == ["file", "file", "folder", "COMMIT"], "\(order)")
  }

  @Test func aMissingFileConcernsItsValueOnly() throws {
    try insert("a")
    let name = try #require(files.first)
    try FileManager.default.removeItem(at: support.appendingPathComponent(name))
    try insert("b")
    let context = try fresh()
    #expect(try context.fetch(FetchRequest("Photo")).count == 2)
    #expect(try photo(context, "b").value(forKey: "bytes") == .data(large))
    let broken = try photo(context)
    for read in [
      { try broken.value(forKey: "bytes") }, { try broken.primitiveValue(forKey: "bytes") },
      { try broken.committedValues(forKeys: ["bytes"])["bytes"] ?? .null },
    ] {
      let error = #expect(throws: GraphError.self) { try read() }
      #expect(error?.entity == "Photo" && error?.property == "bytes" && error?.objectID == broken.objectID)
      #expect(error?.message.contains(name) == true && error?.message.contains("Photo.bytes") == true)
    }
    let request = try FetchRequest("Photo", where: "name == 'a' AND bytes == %@", .data(large))
    let error = #expect(throws: GraphError.self) { try context.fetch(request) }
    #expect(error?.property == "bytes")
  }

  @Test func aValueThatWasNotReadIsShownAsBytesInAFile() throws {
    try insert("a")
    let context = try fresh()
    #expect(try "\(photo(context))".contains("bytes = bytes in a file"))
    #expect(try photo(context).value(forKey: "bytes") == .data(large))
  }

  @Test func aRowThatIsSavedUnchangedKeepsItsFile() throws {
    try insert("a")
    let before = files
    try FileManager.default.removeItem(at: support.appendingPathComponent(before[0]))
    let context = try fresh()
    let broken = try photo(context)
    try broken.setValue("c", forKey: "name")
    try context.save()
    let raw = try RawDatabase(folder.file())
    #expect(try raw.value("SELECT CAST(SUBSTR(ZBYTES, 2, 36) AS TEXT) FROM ZPHOTO WHERE ZNAME = 'c'") == before[0])
    try broken.setValue(.data(large), forKey: "bytes")
    try context.save()
    #expect(try saved(of: "c") == .data(large))
    #expect(files.count == 1 && files != before)
  }

  @Test func anEqualValueIsNoChange() throws {
    try insert("a")
    let context = try fresh()
    let object = try photo(context)
    try object.setValue(.data(large), forKey: "bytes")
    #expect(!object.hasChanges)
    try object.setValue(.data(large.dropLast()), forKey: "bytes")
    #expect(object.hasChanges)
    #expect(try object.committedValues(forKeys: ["bytes"]) == ["bytes": .data(large)])
    #expect(try object.value(forKey: "bytes") == .data(large.dropLast()))
    try context.rollback()
    #expect(try object.value(forKey: "bytes") == .data(large))
  }

  @Test func valuesAreComparedAndSortedByTheirBytes() throws {
    let context = try ManagedObjectContext(coordinator)
    for (name, byte) in [("x", 9), ("y", 1), ("z", 5)] as [(String, UInt8)] {
      let bytes = Data(repeating: byte, count: name == "z" ? 3 : 150_000)
      _ = try context.insert("Photo", values: ["name": .string(name), "bytes": .data(bytes)])
    }
    try context.save()
    let reader = try fresh()
    var request = FetchRequest("Photo")
    request.sortDescriptors = [SortDescriptor("bytes")]
    #expect(try reader.fetch(request).map { $0["name"] } == ["y", "z", "x"])
    for (text, names) in [
      ("bytes == %@", ["z"]), ("bytes != %@", ["y", "x"]), ("bytes IN {%@}", ["z"]), ("bytes >= %@", ["z", "x"]),
    ] as [(String, [Value])] {
      request.predicate = try MoonbaseModel.Predicate(format: text, .data(Data([5, 5, 5])))
      #expect(try reader.fetch(request).map { $0["name"] } == names, "\(text)")
    }
    request.predicate = try MoonbaseModel.Predicate(format: "bytes == NULL")
    #expect(try reader.fetch(request).isEmpty)
  }

  @Test func aSnapshotKeepsItsFileWhileASaveLetsGoOfIt() throws {
    try insert("a")
    let before = files
    do {
      let reader = try fresh()
      let old = try photo(reader)
      #expect(try old.value(forKey: "name") == "a")
      let writer = try ManagedObjectContext(coordinator)
      try photo(writer).setValue(.data(Data([1])), forKey: "bytes")
      try writer.save()
      #expect(files == before)
      #expect(try old.value(forKey: "bytes") == .data(large))
      try reader.refresh(old, mergeChanges: false)
    }
    #expect(try saved() == .data(Data([1])))
    #expect(files.isEmpty)
  }

  /// Rows that a walk has not read yet name files that the newer rows do not.
  @Test(arguments: [true, false]) func aViewKeepsTheFilesOfRowsThatItHasYetToRead(_ deletes: Bool) throws {
    let context = try ManagedObjectContext(coordinator)
    for index in 0..<1200 {
      let value = index >= 1198 ? large : Data([1])
      _ = try context.insert("Photo", values: ["name": .string("\(index)"), "bytes": .data(value)])
    }
    try context.save()
    try context.reset()
    #expect(files.count == 2)
    var reader: ManagedObjectContext? = try fresh()
    var walk = try reader?.fetchedObjects(FetchRequest("Photo"))
    #expect(walk?.first != nil)
    for name in ["1198", "1199"] {
      let photo = try photo(context, name)
      if deletes { try context.delete(photo) } else { try photo.setValue(.data(Data([2])), forKey: "bytes") }
    }
    try context.save()
    try context.reset()
    // A later view's rows do not name the files.
    let later = try fresh()
    let kept = try later.fetchedObjects(FetchRequest("Photo"))
    #expect(kept.first != nil)
    var read = 0
    for photo in try #require(walk) where try photo.value(forKey: "bytes") == .data(large) { read += 1 }
    #expect(read == 2)
    #expect(files.count == 2)
    (walk, reader) = (nil, nil)
    #expect(files.isEmpty)
    withExtendedLifetime(kept) {}
  }

  @Test func contextsOfOneCoordinatorShareWhatWasRead() throws {
    try insert("a")
    let other = PersistentStoreCoordinator(model: model)
    try other.add(SQLiteStore(url: folder.file(), model: model))
    let (one, two) = (try ManagedObjectContext(other), try ManagedObjectContext(other))
    let (mine, theirs) = (try photo(one), try photo(two))
    try mine.setValue(.data(Data([1])), forKey: "bytes")
    try one.save()
    // The old value's file stays for the row of the other context.
    #expect(try theirs.value(forKey: "bytes") == .data(large))
    try two.refresh(theirs, mergeChanges: false)
    #expect(try theirs.value(forKey: "bytes") == .data(Data([1])))
    try mine.setValue(.data(large), forKey: "bytes")
    try one.save()
    #expect(
      try mine.value(forKey: "bytes") == .data(large)
        && mine.committedValues(forKeys: ["bytes"])["bytes"] == .data(large))
    try one.delete(mine)
    try one.save()
    #expect(files.isEmpty)
  }

  @Test func aFailedSaveLeavesTheFilesAsTheyWere() throws {
    try insert("a")
    let before = files
    let (one, two) = (try fresh(), try fresh())
    let (mine, theirs) = (try photo(one), try photo(two))
    try mine.setValue("x", forKey: "name")
    try theirs.setValue(.data(Data(large.reversed())), forKey: "bytes")
    try one.save()
    #expect(throws: GraphError.self) { try two.save() }
    #expect(files == before)
    #expect(try saved(of: "x") == .data(large))
  }

  /// The first save of a store looks for orphaned files before its commit, when no row names the file of an old value.
  @Test(arguments: [false, true]) func theFileOfAnOldValueStaysWhereTheFirstSaveFails(deletes: Bool) throws {
    try insert("a")
    let before = files
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -86_400)],
      ofItemAtPath: support.appendingPathComponent(before[0]).path)
    // No object of the row is loaded, since it would keep the file.
    let context = try fresh()
    let id = try #require(try context.fetchIDs(FetchRequest("Photo")).first)
    let entity = try #require(model.entity("Photo"))
    let slot = try #require(entity.slot("bytes"))
    var values = entity.initialValues
    values[slot] = .data(Data([1]))
    var changes = StoreChanges()
    if deletes {
      changes.deleted = [.init(id: id, expectedVersion: nil)]
    } else {
      let row = Snapshot(id: id, version: 2, values: values)
      changes.updated = [.init(snapshot: row, changedSlots: [slot], expectedVersion: nil)]
    }
    let store = try SQLiteStore(url: folder.file(), model: model)
    let session = try store.beginSave(author: nil)
    #expect(try session.write(changes).isEmpty)
    try session.prepare()
    #expect(files == before)
    session.abort()
    #expect(try saved() == .data(large))
    try store.save(changes)
    #expect(files.isEmpty)
  }

  @Test func bytesThatNobodyCanDecodeAreKept() throws {
    try insert("a")
    let raw = try RawDatabase(folder.file())
    try raw.connection.execute("UPDATE ZPHOTO SET ZSECRET = ZBYTES")
    #expect(try saved("secret") == .data(large))
  }

  @Test func noLinkLeadsOutOfTheSupportFolder() throws {
    try insert("a")
    let name = try #require(files.first)
    let file = support.appendingPathComponent(name)
    let outside = folder.file("outside")
    try FileManager.default.moveItem(at: file, to: outside)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
    var error = #expect(throws: GraphError.self) { try saved() }
    #expect(error?.message.contains("link") == true)
    try FileManager.default.removeItem(at: file)
    try #require(link(outside.path, file.path) == 0)
    error = #expect(throws: GraphError.self) { try saved() }
    #expect(error?.message.contains("second name") == true)
    try FileManager.default.removeItem(at: file)
    try #require(mkfifo(file.path, 0o600) == 0)
    error = #expect(throws: GraphError.self) { try saved() }
    #expect(error?.message.contains("pipe") == true)
    try FileManager.default.removeItem(at: folder.file(".store_SUPPORT"))
    let elsewhere = try TemporaryFolder()
    try FileManager.default.createDirectory(at: elsewhere.file("_EXTERNAL_DATA"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: outside, to: elsewhere.file("_EXTERNAL_DATA/\(name)"))
    try FileManager.default.createSymbolicLink(at: folder.file(".store_SUPPORT"), withDestinationURL: elsewhere.url)
    error = #expect(throws: GraphError.self) { try saved() }
    #expect(error?.message.contains("link") == true)
    #expect(throws: GraphError.self) { try insert("b") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.file("_EXTERNAL_DATA").path) == [name])
  }

  @Test func orphansGoWithTheFirstSaveOfAFile() throws {
    try insert("a")
    let kept = try #require(files.first)
    let names = (old: UUID().uuidString, new: UUID().uuidString, foreign: "notes.txt")
    for name in [names.old, names.new, names.foreign] { try Data([1]).write(to: support.appendingPathComponent(name)) }
    let yesterday = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -86_400)]
    for name in [names.old, names.foreign, kept] {
      try FileManager.default.setAttributes(yesterday, ofItemAtPath: support.appendingPathComponent(name).path)
    }
    let context = try fresh()
    _ = try context.insert("Photo", values: ["name": "plain"])
    try context.save()
    #expect(files.contains(names.old))
    _ = try context.insert("Photo", values: ["name": "b", "bytes": .data(large)])
    try context.save()
    #expect(!files.contains(names.old))
    #expect(Set(files).isSuperset(of: [names.new, names.foreign, kept]) && files.count == 4)
  }

  /// `store.sqlite` and `store.db` have the same folder, as does a copy with another extension.
  @Test func filesStayThatMayBelongToAStoreWithTheSameFolder() throws {
    try insert("a")
    let others = UUID().uuidString
    try Data([1]).write(to: support.appendingPathComponent(others))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -86_400)],
      ofItemAtPath: support.appendingPathComponent(others).path)
    for (isBesideAnother, name) in [(true, "b"), (false, "c")] {
      let another = folder.file("store.db")
      if isBesideAnother { try Data([1]).write(to: another) } else { try FileManager.default.removeItem(at: another) }
      let context = try fresh()
      _ = try context.insert("Photo", values: ["name": .string(name), "bytes": .data(large)])
      try context.save()
      #expect(files.contains(others) == isBesideAnother)
    }
  }

  @Test(arguments: ["x'02'", "x'0241424300'", "CAST(x'02' || zeroblob(36) || x'00' AS BLOB)"])
  func whatNamesNoFileIsAnErrorOfItsValue(_ bytes: String) throws {
    try insert("a", "b")
    try RawDatabase(folder.file()).connection.execute("UPDATE ZPHOTO SET ZBYTES = \(bytes) WHERE ZNAME = 'a'")
    let context = try fresh()
    let broken = try photo(context)
    let error = #expect(throws: GraphError.self) { try broken.value(forKey: "bytes") }
    #expect(error?.code == .invalidStore && error?.property == "bytes" && error?.objectID == broken.objectID)
    #expect(try photo(context, "b").value(forKey: "bytes") == .data(large))
    // Changing another attribute leaves the damaged value.
    broken["name"] = "c"
    try context.save()
    #expect(
      try RawDatabase(folder.file()).value("SELECT ZBYTES = \(bytes) FROM ZPHOTO WHERE ZNAME = 'c'") == "1")
    var findings: [String] = []
    try StoreCheck(storeAt: folder.file(), model: model) { findings.append($0.message) }.run()
    // The file that the row named before is an orphan.
    #expect(findings.count == 2 && findings.first?.contains("bytes") == true, "\(findings)")
  }

  /// Two rows exchange a unique value, so one row is written twice.
  @Test func anUpdateThatWaitsForAValueLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    var entity = EntityDescription("Photo")
    entity.attributes = [
      AttributeDescription("bytes", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true },
      AttributeDescription("name", type: .string),
    ]
    entity.uniquenessConstraints = [["name"]]
    let model = try ManagedObjectModel(entities: [entity]).resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file(), model: model))
    let context = try ManagedObjectContext(coordinator)
    let photos = try ["a", "b"].map {
      try context.insert("Photo", values: ["name": .string($0), "bytes": .data(large)])
    }
    try context.save()
    for (photo, name) in zip(photos, ["b", "a"]) {
      photo["name"] = .string(name)
      photo["bytes"] = .data(large + Data(name.utf8))
    }
    try context.save()
    for photo in photos { try context.refresh(photo, mergeChanges: false) }
    let support = folder.file(".store_SUPPORT/_EXTERNAL_DATA")
    #expect(try FileManager.default.contentsOfDirectory(atPath: support.path).count == 2)
    #expect(try photos.map { try $0.value(forKey: "bytes") } == ["b", "a"].map { .data(large + Data($0.utf8)) })
  }
}
