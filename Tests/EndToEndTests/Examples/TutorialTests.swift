import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Follows each page from its first block to its last in one folder: writes the files, runs the commands, and compares
/// their output with the page.
@Suite struct TutorialTests {
  @Test(arguments: DocumentBlock.walked) func thePagePrintsWhatItShows(_ page: String) throws {
    let walk = try Walk()
    var printed = ""
    var count = 0
    for (language, name, code) in try DocumentBlock.all(of: page) {
      switch language {
      case _ where !name.isEmpty: try walk.put(code, at: name)
      case "lua": try walk.write(code)
      case "sh": printed = try walk.run(code)
      case "text":
        #expect(Self.masked(printed) == Self.masked(code))
        count += 1
      case "swift": break  // compiled by SwiftBlockTests
      default: Issue.record("a block of \(language)")
      }
    }
    #expect(count > 8)
  }

  @Test func theCookbookShowsAllOfItsFiles() throws {
    let shown = try Set(DocumentBlock.all(of: "docs/cookbook.md").map(\.name))
    let folder = Workbench.checkout.appendingPathComponent("lua/examples/cookbook")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.count > 15)
    for file in files { #expect(shown.contains(file), "docs/cookbook.md does not show \(file)") }
  }

  /// `BookshelfExampleTests` builds and runs the package.
  @Test func theTutorialInSwiftShowsTheCodeOfTheExample() throws {
    func lines(_ text: String) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let folder = Workbench.checkout.appendingPathComponent("Examples")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix(".") && ($0.hasSuffix(".swift") || $0.hasSuffix(".lua")) }
    let sources = try names.map { lines(try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
    let blocks = try DocumentBlock.all(of: DocumentBlock.ofExample).filter { $0.language != "sh" }
    #expect(blocks.count > 8)
    for block in blocks { #expect(sources.contains { $0.contains(lines(block.code)) }, "\(block.code)") }
  }

  /// Durations, times and the identities of stores differ from run to run.
  private static func masked(_ text: String) -> String {
    text.replacing(#/\d+\.\d s(, [\d,]+ (a second|rows\/s))?/#, with: "0.0 s")
      .replacing(#/\d{4}-\d\d-\d\dT[\d:.]+Z/#, with: "NOW")
      .replacing(#/x-coredata:\/\/[0-9A-F-]{36}/#, with: "x-coredata://STORE")
  }

  /// The folder of a reader.
  private final class Walk {
    private let bench: Workbench
    private var folder = ""

    init() throws {
      bench = try Workbench()
      try FileManager.default.createDirectory(at: bench.file("bin"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: bench.file("bin/moonbase"), withDestinationURL: Workbench.command)
      try FileManager.default.createSymbolicLink(
        at: bench.file("lua"), withDestinationURL: Workbench.checkout.appendingPathComponent("lua"))
    }

    /// Writes a file. One that is there, a copy of an example, must be as the page shows it.
    func put(_ code: String, at name: String) throws {
      if FileManager.default.fileExists(atPath: bench.file(folder + name).path) {
        #expect(String(decoding: try bench.bytes(of: folder + name), as: UTF8.self) == code, "\(name)")
      } else {
        try bench.write(code, to: folder + name)
      }
    }

    /// Writes a file whose name is the first line of the block. A block without a name goes into the extension, before
    /// the entity `Item` or into it.
    func write(_ code: String) throws {
      if let name = code.prefixMatch(of: #/-- (\S+\.lua)\n/#) {
        try bench.write(code, to: folder + String(name.1))
        return
      }
      let item = "    Item = {\n"
      let text = try String(contentsOf: bench.file(folder + "shelf.lua"), encoding: .utf8)
      let isEntity = code.hasPrefix("    Film")
      try bench.write(
        text.replacing(item, with: isEntity ? code + item : item + code, maxReplacements: 1), to: folder + "shelf.lua")
    }

    /// The output of the commands of a block, on either stream.
    func run(_ code: String) throws -> String {
      var printed = ""
      for line in code.split(separator: "\n") {
        if let change = line.wholeMatch(of: #/cd ([\w\/]+)/#) {
          folder += "\(change.1)/"
          continue
        }
        let outcome = try bench.program(
          "sh", "-c", "PATH=\"$PWD/bin:$PATH\"; cd \"./$0\"; \(line) 2>&1", folder)
        printed += outcome.output.replacing(bench.folder.path + "/", with: "")
      }
      return printed
    }
  }
}
