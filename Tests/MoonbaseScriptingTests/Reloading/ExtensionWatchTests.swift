import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Watched extension files, written in the ways of editors and other programs.
@Suite struct ExtensionWatchTests {
  private typealias Bench = ReloadBench

  /// A watch over a bench, and its notifications.
  private final class Watched {
    let bench: Bench
    let heard = Heard()
    private(set) var watch: ExtensionWatch?

    init(_ files: [String: String] = ["a.lua": Bench.labelled(1)], hearsOfEvents: Bool = true) throws {
      bench = try Bench(files)
      watch = bench.extensions.watch(
        settling: .milliseconds(5), every: hearsOfEvents ? .seconds(60) : .milliseconds(5), hearsOfEvents: hearsOfEvents
      ) { [heard] in heard.add($0) }
    }

    var folder: URL { bench.folder.file("e") }
    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
    func end() { watch = nil }
  }

  /// By system events, and by polling.
  private static let ways = [true, false]

  @Test(arguments: ways) func aFileThatIsWrittenInPlaceOrReplacedIsRead(_ hearsOfEvents: Bool) throws {
    let watched = try Watched(hearsOfEvents: hearsOfEvents)
    let context = try watched.bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    // The file is truncated and written.
    try Bench.labelled(2).write(to: watched.url("a.lua"), atomically: false, encoding: .utf8)
    #expect(watched.heard.nextOfAWholeFile() == "reloaded a 1.2")
    try context.processPendingChanges()
    #expect(object["label"] == "x2")
    // Another file is renamed to the same name.
    try Bench.labelled(3).write(to: watched.url("a.lua~"), atomically: false, encoding: .utf8)
    #expect(rename(watched.url("a.lua~").path, watched.url("a.lua").path) == 0)
    #expect(watched.heard.next() == "reloaded a 1.3")
    try context.processPendingChanges()
    #expect(object["label"] == "x3")
  }

  @Test(arguments: ways) func halfAFileLeavesWhatRunsInPlace(_ hearsOfEvents: Bool) throws {
    let watched = try Watched(hearsOfEvents: hearsOfEvents)
    let text = Bench.labelled(2)
    let file = try FileHandle(forWritingTo: watched.url("a.lua"))
    try file.truncate(atOffset: 0)
    #expect(watched.heard.next().hasPrefix("the extensions stay as they are: "))
    try file.write(contentsOf: Data(text.utf8.prefix(40)))
    #expect(watched.heard.next().contains("a.lua:"))
    #expect(watched.bench.extensions.loaded.map(\.version) == ["1.1"])
    try file.write(contentsOf: Data(text.utf8.dropFirst(40)))
    try file.close()
    #expect(watched.heard.next() == "reloaded a 1.2")
    // The former version returns after a mistake.
    try watched.bench.write("return return")
    #expect(watched.heard.next().contains("a.lua:1"))
    try watched.bench.write(text)
    #expect(watched.heard.next() == "reloaded the extensions, of which none changed")
  }

  @Test(arguments: ways) func filesOfAFolderComeAndGo(_ hearsOfEvents: Bool) throws {
    let watched = try Watched(hearsOfEvents: hearsOfEvents)
    try watched.bench.write("return { name = 'b' }", to: "b.lua")
    #expect(watched.heard.next() == "reloaded b")
    try FileManager.default.removeItem(at: watched.url("a.lua"))
    #expect(watched.heard.next() == "removed a 1.1")
    try watched.bench.write(Bench.labelled(2))
    #expect(watched.heard.next() == "reloaded a 1.2")
    try FileManager.default.moveItem(at: watched.url("b.lua"), to: watched.url("c.lua"))
    #expect(watched.heard.next() == "reloaded b; removed b")
    // The folder is removed at once, not file by file, and returns.
    try FileManager.default.moveItem(at: watched.folder, to: watched.bench.folder.file("gone"))
    #expect(watched.heard.next().hasPrefix("the extensions stay as they are: "))
    try FileManager.default.createDirectory(at: watched.folder, withIntermediateDirectories: true)
    try watched.bench.write(Bench.labelled(3))
    var outcome = watched.heard.next()
    // The folder may be seen without the file.
    if outcome.hasPrefix("removed") { outcome = watched.heard.next() }
    #expect(outcome.hasPrefix("reloaded a 1.3"), "\(outcome)")
  }

  @Test(arguments: ways) func aFileThatIsNamedAloneMayGoAndComeBack(_ hearsOfEvents: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("one.lua")
    try Bench.labelled(1).write(to: url, atomically: true, encoding: .utf8)
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Bench.model))
    let extensions = try ScriptExtensions([.file(url)], for: model)
    let heard = Heard()
    let watch = extensions.watch(
      settling: .milliseconds(5), every: hearsOfEvents ? .seconds(60) : .milliseconds(5), hearsOfEvents: hearsOfEvents
    ) { heard.add($0) }
    try FileManager.default.removeItem(at: url)
    #expect(heard.next().contains("one.lua: there is no such file"))
    try Bench.labelled(2).write(to: url, atomically: true, encoding: .utf8)
    #expect(heard.next() == "reloaded a 1.2")
    watch.cancel()
  }

  @Test(arguments: ways) func modulesAreWatchedToo(_ hearsOfEvents: Bool) throws {
    let watched = try Watched(["a.lua": "return { name = 'a', entities = {} }"], hearsOfEvents: hearsOfEvents)
    // A missing module in a missing folder.
    try watched.bench.write("local m = require 'lib.names' return { name = 'a', version = m }")
    #expect(watched.heard.next().contains("lib.names"))
    try FileManager.default.createDirectory(at: watched.url("lib"), withIntermediateDirectories: true)
    try watched.bench.write("return '1.0'", to: "lib/names.lua")
    #expect(watched.heard.next() == "reloaded a 1.0")
    try watched.bench.write("return '1.1'", to: "lib/names.lua")
    #expect(watched.heard.next() == "reloaded a 1.1")
    try FileManager.default.removeItem(at: watched.url("lib"))
    #expect(watched.heard.next().contains("lib.names"))
    #expect(watched.bench.extensions.loaded.map(\.version) == ["1.1"])
  }

  @Test func aLinkThatLeadsElsewhereIsFollowed() throws {
    let watched = try Watched(["real.txt": Bench.labelled(1), "b.lua": "return { name = 'b' }"])
    try FileManager.default.createSymbolicLink(at: watched.url("a.lua"), withDestinationURL: watched.url("real.txt"))
    #expect(watched.heard.next() == "reloaded a 1.1")
    try watched.bench.write(Bench.labelled(2), to: "real.txt")
    #expect(watched.heard.next() == "reloaded a 1.2")
  }

  @Test func whatChangesNothingIsNoReload() throws {
    let watched = try Watched()
    try watched.bench.write(Bench.labelled(1))
    try watched.bench.write("notes", to: "notes.txt")
    try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: watched.url("a.lua").path)
    #expect(watched.heard.isQuiet(for: 60))
    try watched.bench.write(Bench.labelled(2))
    #expect(watched.heard.next() == "reloaded a 1.2")
  }

  @Test func theSameMistakeIsToldOnce() throws {
    let watched = try Watched()
    try watched.bench.write("return return")
    #expect(watched.heard.next().contains("a.lua:1"))
    try watched.bench.write("return return")
    #expect(watched.heard.isQuiet(for: 60))
    try watched.bench.write("\nreturn return")
    #expect(watched.heard.next().contains("a.lua:2"))
  }

  @Test func aWatchEndsWhenItIsCancelledOrGivenUp() throws {
    let watched = try Watched()
    watched.watch?.cancel()
    watched.watch?.cancel()
    try watched.bench.write(Bench.labelled(2))
    #expect(watched.heard.isQuiet(for: 60))
    #expect(watched.bench.extensions.loaded.map(\.version) == ["1.1"])
    let other = try Watched()
    other.end()
    try other.bench.write(Bench.labelled(2))
    #expect(other.heard.isQuiet(for: 60))
    #expect(other.bench.extensions.loaded.map(\.version) == ["1.1"])
  }

  @Test func extensionsThatNobodyHasAreNotWatched() throws {
    let heard = Heard()
    let folder = try TemporaryFolder()
    try Bench.labelled(1).write(to: folder.file("a.lua"), atomically: true, encoding: .utf8)
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Bench.model))
    weak var gone: ScriptExtensions?
    let watch = try {
      let extensions = try ScriptExtensions([.directory(folder.url), .text("return {}", name: "t")], for: model)
      gone = extensions
      return extensions.watch(settling: .milliseconds(1), every: .milliseconds(5)) { heard.add($0) }
    }()
    #expect(gone == nil)
    watch.cancel()
  }

  @Test func outcomesComeAsASequenceAndFailuresToTheLog() async throws {
    let folder = try TemporaryFolder()
    let url = folder.file("a.lua")
    try Bench.labelled(1).write(to: url, atomically: true, encoding: .utf8)
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Bench.model))
    let logged = Heard()
    let extensions = try ScriptExtensions([.directory(folder.url)], for: model) { entry in
      logged.add(.failed(ScriptError(.invalidRequest, message: entry.line)))
    }
    let watch = extensions.watch(settling: .milliseconds(5))
    try "return return".write(to: url, atomically: true, encoding: .utf8)
    let line = logged.next()
    #expect(line.contains("error: the extensions stay as they are: ") && line.contains("a.lua:1"), "\(line)")
    let reloads = extensions.reloads
    try Bench.labelled(2).write(to: url, atomically: true, encoding: .utf8)
    for await outcome in reloads {
      #expect("\(outcome)" == "reloaded a 1.2")
      break
    }
    watch.cancel()
  }
}
