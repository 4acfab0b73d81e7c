import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every block of Swift in a document, and in a comment of `MoonbaseScripting`, is the text of code compiled with the
/// tests.
@Suite struct SwiftBlockTests {
  /// Blocks that are no part of a program: lines of `Package.swift`.
  private static let fragments = [".package(url:", "import PackageDescription"]

  /// The pieces shown in the files beside this one.
  private func shown() throws -> Set<String> {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return Set(try names.flatMap { try Documents.shownPieces(ofSourceAt: folder.appendingPathComponent($0).path) })
  }

  private func check(_ blocks: [DocumentBlock]) throws {
    let shown = try shown()
    for block in blocks where !Self.fragments.contains(where: block.code.contains) {
      let code = block.code.replacing(#/^import \w+\n\n/#, with: "")
      // A separate constant, so that the message does not print all pieces.
      let isShown = shown.contains(code)
      #expect(isShown, "\(block.place) is not compiled: show it in a file beside SwiftBlockTests.swift")
    }
  }

  @Test func theCodeOfDocumentsIsCompiled() throws {
    let blocks = try DocumentBlock.documents("swift")
    #expect(blocks.count > 40)
    try check(blocks)
  }

  @Test func theCodeOfCommentsIsCompiled() throws {
    let blocks = try DocumentBlock.comments("swift", below: "Sources/MoonbaseScripting")
    #expect(blocks.count > 15)
    try check(blocks)
  }

  /// Commands that run scripts make their Lua states by the maker, and use a crew's threads: `each`, `batch`, and
  /// `import`, whose single map file runs on the command's own thread.
  @Test func commandsMakeStatesForScriptsByTheMaker() throws {
    for path in try Checkout.paths(below: "Sources/MoonbaseCommand", "Sources/MoonbaseBatch") {
      guard path.hasSuffix(".swift") else { continue }
      #expect(try !Checkout.text(path).contains("ScriptDomain("), "\(path): make the state by ScriptDomainMaker")
    }
  }
}
