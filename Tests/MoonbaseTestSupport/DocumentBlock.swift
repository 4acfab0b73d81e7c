import MoonbasePlatform

/// A block of code in a document of the checkout, or in a comment of its sources.
public struct DocumentBlock: Sendable {
  /// The file and the line, as in `docs/scripting.md:12`.
  public let place: String
  /// The text between the fences.
  public let code: String

  private static let root = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent()
  }

  /// Pages whose blocks belong together, and run in their order (`TutorialTests`).
  public static let walked = [
    "docs/tutorial-lua.md", "docs/importing.md", "docs/cookbook.md", "docs/errors.md", "docs/pitfalls.md",
  ]
  /// The page whose code is that of the package in `Examples`.
  public static let ofExample = "docs/tutorial-swift.md"

  /// A page that is made of `lua/types`, whose examples run where it is made (`MadePageTests`).
  public static let made = "docs/script-api.md"

  /// The blocks of a language in the README and in all of `docs`, but for the pages above.
  public static func documents(_ language: String) throws -> [DocumentBlock] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent("docs").path)
    let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    let paths = ["README.md"] + pages.filter { !(walked + [ofExample, made]).contains($0) }
    return try paths.flatMap { try blocks(language, of: $0) { $0 } }
  }

  /// The blocks of a language in the comments of a folder's Swift files.
  public static func comments(_ language: String, below folder: String) throws -> [DocumentBlock] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
    return try names.filter { $0.hasSuffix(".swift") }.sorted().flatMap { name in
      try blocks(language, of: "\(folder)/\(name)") { line in
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("///") else { return nil }
        return text.hasPrefix("/// ") ? text.dropFirst(4) : text.dropFirst(3)
      }
    }
  }

  /// All blocks of a file in order: language, the name after the language, code.
  public static func all(of path: String) throws -> [(language: String, name: String, code: String)] {
    let source = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    return source.matches(of: #/(?ms)^```(\w+) ?([^\n]*)\n(.*?)^```$/#).map {
      (String($0.1), String($0.2), String($0.3))
    }
  }

  /// `text` returns a line's documentation text, or nil where the line has none.
  private static func blocks(
    _ language: String, of path: String, text: (Substring) -> Substring?
  ) throws -> [DocumentBlock] {
    let source = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    var blocks: [DocumentBlock] = []
    var code: String?
    for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard let said = text(line) else { continue }
      if code != nil, said == "```" {
        if let last = code { blocks.append(DocumentBlock(place: "\(path):\(index + 1)", code: last)) }
        code = nil
      } else if code != nil {
        code? += said + "\n"
      } else if said == "```\(language)" {
        code = ""
      }
    }
    return blocks
  }
}
