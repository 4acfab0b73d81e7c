import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Changes to stores that Core Data wrote: untouched columns keep their values, and touched ones follow Core Data's
/// bookkeeping.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealChangeTests {
  /// The differences in the file after a save, once the store was closed and opened again.
  private func changes(_ name: String, _ change: (ManagedObjectContext) throws -> Void) throws -> [String] {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let before = try (TableContents(RawDatabase(url)), RawDatabase(url).rows("SELECT * FROM sqlite_master"))
    let model = try RealStores.model(of: url)
    for isChanged in [true, false] {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(SQLiteStore(url: url, model: model, options: .init(transactionAuthor: "tests")))
      let context = try ManagedObjectContext(coordinator)
      if isChanged { try change(context) }
      try context.save()
    }
    let raw = try RawDatabase(url)
    #expect(try raw.rows("PRAGMA integrity_check") == ["ok"])
    #expect(try raw.rows("SELECT * FROM sqlite_master") == before.1)
    return try TableContents(raw).changes(since: before.0)
  }

  private func object(_ entity: String, _ key: Int64, in context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest(entity)).first { $0.objectID.key == key })
  }

  @Test(arguments: RealStores.all) func aStoreThatIsOpenedForWritingAndSavesNothingIsAsItWas(name: String) throws {
    #expect(
      try changes(name) { context in
        for entity in context.model.entities where !entity.isAbstract {
          for object in try context.fetch(FetchRequest(entity.name)) {
            for property in entity.properties where !property.isTransient {
              _ = try object.value(forKey: property.name)
            }
          }
        }
      } == [])
  }

  /// An attribute of one object per entity gets another value. The changed columns are that attribute, the row's
  /// version, and the history.
  @Test(arguments: RealStores.all) func oneValueOfEachEntityIsTwoColumnsOfItsRow(name: String) throws {
    var expected: [String] = []
    let found = try changes(name) { context in
      for entity in context.model.entities where !entity.isAbstract {
        var request = FetchRequest(entity.name)
        request.includesSubentities = false
        guard let object = try context.fetch(request).min(by: { $0.objectID.key < $1.objectID.key }),
          let (key, value) = try self.otherValue(of: object)
        else { continue }
        try object.setValue(value, forKey: key)
        let table = "Z" + context.model.entities[entity.root].name.uppercased()
        expected.append("\(table) \(object.objectID.key) Z\(key.uppercased())")
        expected.append("\(table) \(object.objectID.key) Z_OPT")
      }
    }
    #expect(!expected.isEmpty)
    let rows = found.filter { !$0.hasPrefix("A") && !$0.hasPrefix("Z_PRIMARYKEY 1600") }
    // A column name shared by two branches of a hierarchy has a number.
    #expect(rows.map { $0.replacing(/[0-9]*:.*/, with: "") }.sorted() == expected.sorted())
    for row in rows where row.contains(" Z_OPT:") {
      let numbers = row.split(separator: ": ")[1].split(separator: " -> ").compactMap { Int($0) }
      #expect(numbers.count == 2 && numbers[1] == numbers[0] + 1, "\(row)")
    }
  }

  /// An attribute without derived attributes that depend on it, and another value for it.
  private func otherValue(of object: ManagedObject) throws -> (String, Value)? {
    let keys = object.entity.properties.filter { !$0.isTransient && !$0.isDerived }.map(\.name).sorted()
    for key in keys {
      switch try object.value(forKey: key) {
      case .string(let text): return (key, .string(text + "+"))
      case .bool(let flag): return (key, .bool(!flag))
      case .int(let number): return (key, .int(number == 1 ? 0 : 1))
      case .double(let number): return (key, .double(number + 1))
      case .date(let date): return (key, .date(date.addingTimeInterval(60)))
      default: continue
      }
    }
    return nil
  }

  @Test func aTitleIsTwoColumnsOfOneRow() throws {
    let found = try changes("Bookmarks_V5") { try object("BookmarkEntity", 1, in: $0).setValue("new", forKey: "title") }
    #expect(found == ["ZBOOKMARKENTITY 1 Z_OPT: 1 -> 2", "ZBOOKMARKENTITY 1 ZTITLE: '4' -> 'new'"])
  }

  @Test func aMoveWithinAFolderIsAPlace() throws {
    let found = try changes("Bookmarks_V5") { context in
      let folder = try object("BookmarkEntity", 8, in: context)
      var children = Array(try folder.objects(forKey: "children"))
      children.insert(children.remove(at: 3), at: 1)
      try folder.setObjects(children, forKey: "children")
    }
    #expect(found == ["ZBOOKMARKENTITY 1 Z_FOK_PARENT: 5120 -> 2560"])
  }

  /// The bookmark keeps its position, which follows those of the other members.
  @Test func aMoveToAnotherFolderIsAParent() throws {
    let found = try changes("Bookmarks_V5") { context in
      try object("BookmarkEntity", 1, in: context).setObject(object("BookmarkEntity", 4, in: context), forKey: "parent")
    }
    #expect(found == ["ZBOOKMARKENTITY 1 Z_OPT: 1 -> 2", "ZBOOKMARKENTITY 1 ZPARENT: 8 -> 4"])
  }

  /// There is room between two other members.
  @Test func aMoveToAPlaceInAnotherFolderIsAParentAndAPlace() throws {
    let found = try changes("Bookmarks_V5") { context in
      let folder = try object("BookmarkEntity", 4, in: context)
      var children = Array(try folder.objects(forKey: "children"))
      children.insert(try object("BookmarkEntity", 1, in: context), at: 1)
      try folder.setObjects(children, forKey: "children")
    }
    #expect(
      found == [
        "ZBOOKMARKENTITY 1 Z_OPT: 1 -> 2", "ZBOOKMARKENTITY 1 ZPARENT: 8 -> 4",
        "ZBOOKMARKENTITY 1 Z_FOK_PARENT: 5120 -> 2560",
      ])
  }

  /// Another member has the bookmark's position, so the bookmark gets a position after all members.
  @Test func aMoveToAnotherFolderWhereItsPlaceIsTakenIsANewPlace() throws {
    let found = try changes("Bookmarks_V5") { context in
      try object("BookmarkEntity", 5, in: context).setObject(object("BookmarkEntity", 4, in: context), forKey: "parent")
    }
    #expect(
      found == [
        "ZBOOKMARKENTITY 5 Z_OPT: 1 -> 2", "ZBOOKMARKENTITY 5 ZPARENT: 8 -> 4",
        "ZBOOKMARKENTITY 5 Z_FOK_PARENT: 2048 -> 5120",
      ])
  }

  /// Triggers of the file count the pages of both books.
  @Test func aPageThatMovesToAnotherBookIsItsBookAndTwoCounts() throws {
    let found = try changes("CoreDataPlus-SampleModel2_V1") { context in
      try object("Page", 1, in: context).setObject(object("Book", 2, in: context), forKey: "book")
    }
    #expect(
      found == [
        "ACHANGE 5469 came", "ATRANSACTION 2 came", "ATRANSACTIONSTRING 3 came", "ATRANSACTIONSTRING 4 came",
        "ZBOOK 2 ZPAGESCOUNT: 99 -> 100", "ZBOOK 34 ZPAGESCOUNT: 99 -> 98", "ZPAGE 1 Z_OPT: 1 -> 2",
        "ZPAGE 1 ZBOOK: 34 -> 2", "Z_PRIMARYKEY 16001 Z_MAX: 5468 -> 5469", "Z_PRIMARYKEY 16002 Z_MAX: 1 -> 2",
        "Z_PRIMARYKEY 16003 Z_MAX: 2 -> 4",
      ])
  }

  @Test func anInsertionIsARowAndAGreatestKey() throws {
    let found = try changes("Bookmarks_V5") { context in
      let values: [String: Value] = ["title": "new", "uuid": "new", "isFolder": false]
      let bookmark = try context.insert("BookmarkEntity", values: values)
      try bookmark.setObject(object("BookmarkEntity", 4, in: context), forKey: "parent")
    }
    #expect(found == ["ZBOOKMARKENTITY 11 came", "Z_PRIMARYKEY 1 Z_MAX: 10 -> 11"])
  }

  @Test func aDeletionIsARowWithItsPairs() throws {
    let found = try changes("Bookmarks_V5") { try $0.delete(object("BookmarkEntity", 9, in: $0)) }
    #expect(found == ["ZBOOKMARKENTITY 9 went", "Z_1FAVORITES 3 went"])
  }

  @Test func aTitleOfANoteIsTwoColumnsAndATransaction() throws {
    let found = try changes("plaso-NoteStore") { context in
      let note = try #require(try context.fetch(FetchRequest("ICNote")).min { $0.objectID.key < $1.objectID.key })
      try note.setValue("new", forKey: "title")
    }
    #expect(
      found == [
        "ACHANGE 299 came", "ATRANSACTION 85 came", "ATRANSACTIONSTRING 15 came", "ATRANSACTIONSTRING 16 came",
        "ZICCLOUDSYNCINGOBJECT 8 Z_OPT: 3 -> 4", "ZICCLOUDSYNCINGOBJECT 8 ZTITLE1: 'My Secret Note' -> 'new'",
        "Z_PRIMARYKEY 16001 Z_MAX: 298 -> 299", "Z_PRIMARYKEY 16002 Z_MAX: 84 -> 85",
        "Z_PRIMARYKEY 16003 Z_MAX: 14 -> 16",
      ])
  }
}
