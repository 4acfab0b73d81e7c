import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Processes that are killed.
@Suite struct CrashTests {
  @Test func aProcessThatDiesInTheMiddleOfASaveLeavesTheRowsAsTheyWereBeforeIt() throws {
    let people = try PeopleStore()
    let old = try people.insert(people.row("Person", ["firstName": "Old", "age": 1]))[0]
    let new = try people.row("Person", ["firstName": "New"])
    let friends = people.entity("Person").slot("friends")!
    let change = try people.update(old, ["age": 2])
    let moments = Lock<[String]>([])
    let source = people.folder.url
    let copies = try TemporaryFolder()
    let target = copies.url
    // The files at the beginning of each statement are those that a kill at that moment leaves.
    people.store.statements.listen { sql in
      let name = moments.withLock { list in
        list.append(sql)
        return "\(list.count)"
      }
      let folder = target.appendingPathComponent(name)
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for file in ["store.sqlite", "store.sqlite-wal"] {
        try? FileManager.default.copyItem(
          at: source.appendingPathComponent(file), to: folder.appendingPathComponent(file))
      }
    }
    try people.save {
      $0.updated = [change]
      $0.inserted = [new]
      $0.links = [.init(owner: old, slot: friends, added: [new.id], removed: [], order: nil)]
    }
    people.store.statements.listen(nil)
    let count = moments.withLock { $0.count }
    #expect(count >= 5)
    for moment in 1...count {
      let url = target.appendingPathComponent("\(moment)/store.sqlite")
      let store = try SQLiteStore(url: url, model: people.model)
      #expect(try store.snapshot(of: old)?.version == 1)
      #expect(try store.snapshot(of: new.id) == nil)
      #expect(try store.destinations(of: old, relationship: friends).isEmpty)
      #expect(try RawDatabase(url).rows("PRAGMA integrity_check") == ["ok"])
    }
    #expect(try people.store.snapshot(of: old)?.version == 2)
  }
}
