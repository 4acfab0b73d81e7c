import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseBatch

@Suite struct JobStateTests {
  private func state(_ files: [String: String]?) -> JobState {
    JobState(hash: "0123456789abcdef", files: files.map(JobFiles.init), last: 4000, chunkSize: 1)
  }

  @Test func anEntryOfBeforeFilesWereNotedIsRead() throws {
    var entry = state(["a.lua": "1"]).entry
    #expect(try JobState(entry, of: "j").files == JobFiles(["a.lua": "1"]))
    entry["files"] = nil
    let old = try JobState(entry, of: "j")
    #expect(old.files == nil && old.chunks == 4000)
    #expect(JobCode("", in: ".", extensions: ["x.lua"]).changes(since: old.files, modules: ["/y.lua"]) == [])
  }

  /// The ledger may come from an attacker: no number in it may end the process, be divided by, overflow, or cause an
  /// endless loop.
  @Test(arguments: [Int64.min, -1, 0, 1 << 40, 1 << 53, .max]) func numbersBeyondWhatAJobHasAreDamage(_ number: Int64)
    throws
  {
    let sound = state(nil).entry
    for key in ["width", "chunks", "last"] {
      var entry = sound
      entry[key] = .int(number)
      #expect { try JobState(entry, of: "j") } throws: { "\($0)".contains("has noted of the job j is damaged (") }
    }
    for key in ["objects"] where number < 0 || number > 1 << 53 {
      var entry = sound
      entry[key] = .int(number)
      #expect(throws: GraphError.self) { try JobState(entry, of: "j") }
    }
    var entry = sound
    entry["failures"] = .list([.map(["chunk": .int(number), "attempts": .int(number), "reason": .string("x")])])
    #expect(try JobState(entry, of: "j").failures.isEmpty)
  }

  @Test(arguments: [
    "9223372036854775807", "1-9223372036854775806", "4001", "0", "1-", String(repeating: "7,", count: 20_000) + "7",
  ])
  func chunksThatAJobHasNotAreDamage(_ text: String) throws {
    for key in ["done", "failed"] {
      var entry = state(nil).entry
      entry[key] = .string(text)
      #expect { try JobState(entry, of: "j") } throws: {
        "\($0)".contains("(\(key) is no list of chunks from 1 to 4000)")
      }
    }
  }

  @Test func aFileThatTheLedgerNamesIsOnlyReadWhereItIsOne() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.file("pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    let noted = JobFiles(["/dev/zero": "1", pipe: "2"])
    let changes = JobCode("", in: "/", extensions: []).changes(since: noted, modules: [])
    #expect(Set(changes) == ["/dev/zero is missing", "\(pipe) is missing"])
  }

  @Test func filesForWhichThereIsNoRoomAreComparedTogether() {
    let many = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("module\($0).lua", "0123456789abcdef") })
    let files = JobFiles(many)
    #expect(files.digests == nil && files == JobFiles(many) && JobFiles(files.value) == files)
    #expect(files != JobFiles(many.merging(["module7.lua": "1"]) { $1 }))
    var growing = JobFiles(["a.lua": "1"])
    growing.add(JobFiles(["a.lua": "2", "b.lua": "3"]))
    #expect(growing == JobFiles(["a.lua": "1", "b.lua": "3"]))
    growing.add(files)
    #expect(growing == JobFiles(["a.lua": "1", "b.lua": "3"]))
  }

  /// Every second chunk is done, and the others failed with reasons of any length.
  @Test(arguments: [1, 20, 100, 1000]) func noEntryIsLargerThan64KiB(_ length: Int) throws {
    let folder = try TemporaryFolder()
    var entity = EntityDescription("Row")
    entity.attributes = [AttributeDescription("v", type: .string)]
    var model = ManagedObjectModel()
    model.entities = [entity]
    let url = folder.file("s.sqlite")
    let container = try PersistentContainer(model: model, store: .sqlite(url))
    let names = (0..<100).map { "a folder/module \($0).lua" }
    var state = state(Dictionary(uniqueKeysWithValues: names.map { ($0, "0123456789abcdef") }))
    for chunk in 1...4000 {
      if chunk % 2 == 0 {
        state.note(done: chunk, objects: 1, seconds: 0.1)
      } else {
        state.note(
          failed: chunk, attempts: 3, reason: String(String(repeating: "\(chunk) é", count: length).prefix(length)))
      }
    }
    let store = container.coordinator.persistentStores[0]
    let before = try size(url)
    let entry = state.entry
    try store.change(Ledger.change("job", of: store) { _ in entry })
    let size = try size(url) - before
    #expect(size > 20_000 && size <= 64 << 10)
  }

  private func size(_ url: URL) throws -> Int64 {
    try Connection(url.path, mode: .readWrite).integer("SELECT LENGTH(Z_PLIST) FROM Z_METADATA") ?? 0
  }
}
