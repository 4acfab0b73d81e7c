import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The Swift code in documents, compared with the code of a test that compiles and runs it.
enum Documents {
  /// The blocks between ```` ```swift ```` and ```` ``` ```` in a file of the checkout.
  static func swiftBlocks(of name: String) throws -> [String] {
    try DocumentBlock.documents("swift").filter { $0.place.hasPrefix("\(name):") }.map(\.code)
  }

  /// The pieces between `// shown` and `// end` in a source file, without their indentation.
  static func shownPieces(ofSourceAt path: String) throws -> [String] {
    let source = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    return source.matches(of: #/(?m)^( *)// shown\n([\s\S]*?)^ *// end$/#).map { match in
      let lines = match.output.2.split(separator: "\n", omittingEmptySubsequences: false)
      return lines.map { $0.hasPrefix(match.output.1) ? $0.dropFirst(match.output.1.count) : $0 }
        .joined(separator: "\n")
    }
  }
}
