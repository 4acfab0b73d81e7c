import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseBatch

/// How an interrupted import recognizes its file, also from records of earlier versions.
@Suite struct ImportBookmarkTests {
  private let folder: TemporaryFolder
  private let container: PersistentContainer

  init() throws {
    folder = try TemporaryFolder()
    var entity = EntityDescription("Row")
    entity.attributes = [AttributeDescription("v", type: .string)]
    var model = ManagedObjectModel()
    model.entities = [entity]
    container = try PersistentContainer(model: model, store: .inMemory)
  }

  private var store: any PersistentStore { container.coordinator.persistentStores[0] }

  private func fingerprint(_ text: String) throws -> InputFingerprint {
    let url = folder.file("p.csv")
    try Data(text.utf8).write(to: url)
    return try #require(try ImportInput(url.path, format: nil, rejectPath: nil).fingerprint)
  }

  /// Writes the ledger entry of an import that was interrupted at an offset.
  private func note(_ file: String, offset: Int64, before: String? = nil, rows: Int64 = 2) throws {
    var entry: Ledger.Entry = [
      "kind": .string("import"), "file": .string(file), "offset": .int(offset), "line": .int(3), "rows": .int(rows),
    ]
    entry["before"] = before.map(Value.string)
    let noted = entry
    try store.change(Ledger.change("import Row p", of: store) { _ in noted })
  }

  private func resumed(_ fingerprint: InputFingerprint) throws -> ImportBookmark {
    try ImportBookmark("import Row p", fingerprint: fingerprint, of: store, restarting: false)
  }

  private func refusal(_ fingerprint: InputFingerprint) -> String {
    do {
      _ = try resumed(fingerprint)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func whatNotedTimesIsGoneOnWithWhereTheTimeIsTheSame() throws {
    let now = try fingerprint("v\na\nb\nc\n")
    try note(try #require(now.former), offset: 6)
    let bookmark = try resumed(now)
    #expect(bookmark.isResuming && bookmark.offset == 6)
    // From here on the entry has the digest of the contents.
    var report = ImportReport()
    report.rows = 2
    _ = try bookmark.begin(report)
    let entry = try #require(try Ledger.entry("import Row p", of: store))
    #expect(entry["file"] == .string(now.content) && entry["before"] == now.before(6).map(Value.string))
  }

  @Test func whatNotedAnotherTimeIsRefusedInWordsThatSayWhy() throws {
    let now = try fingerprint("v\na\nb\nc\n")
    try note("8 1000000000.5", offset: 6)
    #expect(refusal(now).contains("An older moonbase noted nothing else of it"), "\(refusal(now))")
    try note("9 1000000000.5", offset: 6)
    #expect(refusal(now).contains("behind 2 rows, and the file has changed since: --restart begins anew"))
  }

  @Test func aFileOfWhichNoRowWasTakenMayBeAnother() throws {
    let now = try fingerprint("v\na\nb\nc\n")
    try note("content 9 0123456789abcdef", offset: 0, rows: 0)
    let bookmark = try resumed(now)
    #expect(bookmark.isResuming && bookmark.offset == 0)
    #expect(throws: ImportError.self) {
      try ImportBookmark(
        "import Row p", fingerprint: now, of: store, restarting: false, mayBeginAnew: false)
    }
  }

  @Test func otherContentsAreSeenAlsoBeforeThePlaceToGoOnFrom() throws {
    let text = "v\n" + (0..<400_000).map { "\($0)\n" }.joined()
    let now = try fingerprint(text)
    let offset = Int64(text.utf8.count / 3)
    try note(now.content, offset: offset, before: now.before(offset))
    #expect(try resumed(now).offset == offset)
    for place in [0, text.utf8.count / 3 - 5, text.utf8.count - 3] {
      var bytes = Array(text.utf8)
      bytes[place] ^= 1
      let other = try fingerprint(String(decoding: bytes, as: UTF8.self))
      #expect(refusal(other).contains("the file has changed since"))
    }
    let longer = try fingerprint(text + "1\n")
    #expect(refusal(longer).contains("the file has changed since"))
    #expect(try resumed(fingerprint(text)).isResuming)
  }

  /// The ledger may come from an attacker: no number in it may end the process, or send the import to an invalid
  /// position.
  @Test(arguments: ["offset", "line", "rows", "inserted", "updated", "skipped", "rejected", "step", "rejectLength"])
  func numbersThatNoImportNotesAreDamage(_ key: String) throws {
    let now = try fingerprint("v\na\nb\nc\n")
    for number in [Int64.min, -1, (1 << 53) + 1, .max] {
      var entry: Ledger.Entry = [
        "kind": .string("import"), "file": .string(now.content), "offset": .int(6), "rows": .int(2),
      ]
      entry[key] = .int(number)
      let noted = entry
      try store.change(Ledger.change("import Row p", of: store) { _ in noted })
      #expect(refusal(now).contains("is damaged (\(key) is \(number)): --restart begins anew"), "\(refusal(now))")
      let anew = try ImportBookmark("import Row p", fingerprint: now, of: store, restarting: true)
      #expect(!anew.isResuming && anew.offset == 0)
    }
  }

  /// The ledger names a file of the user and its length. Neither proves that the file is a reject file.
  @Test(arguments: [nil, "0123456789abcdef"]) func aFileIsOnlyThatOfRejectedRowsWhereItsEndIs(_ digest: String?) throws
  {
    let now = try fingerprint("v\na\nb\nc\n")
    let url = folder.file("mine.csv")
    try Data("mine,and,long\n".utf8).write(to: url)
    let usual = folder.file("p.rejects.csv")
    for path in [url.path, usual.path] {
      try Data("mine,and,long\n".utf8).write(to: URL(fileURLWithPath: path))
      for restarting in [false, true] {
        var entry: Ledger.Entry = [
          "kind": .string("import"), "file": .string(now.content), "offset": .int(6), "rows": .int(2),
          "rejects": .string(path), "rejectLength": .int(3),
        ]
        entry["rejectEnd"] = digest.map(Value.string)
        let noted = entry
        try store.change(Ledger.change("import Row p", of: store) { _ in noted })
        for named in [url.path, usual.path] {
          let bookmark = try ImportBookmark(
            "import Row p", fingerprint: now, of: store, restarting: restarting, rejectPath: named,
            usualRejectPath: usual.path)
          #expect(bookmark.rejectFile == .another)
        }
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine,and,long\n".utf8))
    }
  }
}
