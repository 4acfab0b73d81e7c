import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Names in the README and `docs/` exist: links, files, folders, types and functions.
@Suite struct DocumentNameTests {
  private struct Document: Sendable, CustomTestStringConvertible {
    let path: String
    /// The text without blocks of code.
    let prose: String

    var testDescription: String { path }

    init(_ path: String) throws {
      self.path = path
      prose = try Checkout.text(path).replacing(#/```[\s\S]*?```/#, with: "")
    }

    /// The back-quoted names.
    var code: [String] { prose.matches(of: #/`([^`\n]+)`/#).map { String($0.1) } }

    /// The anchors of its headings.
    var anchors: [String] {
      prose.matches(of: #/(?m)^#+ (.*)$/#).map { heading in
        heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
      }
    }
  }

  private static func documents() throws -> [Document] {
    let paths = try Checkout.paths(below: "docs").filter { $0.hasSuffix(".md") }
    return try (["README.md"] + paths.sorted()).map(Document.init)
  }

  @Test func linksLeadToFilesAndHeadings() throws {
    var count = 0
    for document in try Self.documents() {
      for link in document.prose.matches(of: #/\]\(([^)#]*)#?([^)]*)\)/#) where !link.1.hasPrefix("http") {
        let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
        let target = Checkout.file(folder).appendingPathComponent(String(link.1)).standardizedFileURL.path
        let path = link.1.isEmpty ? document.path : String(target.dropFirst(Checkout.root.path.count + 1))
        #expect(Checkout.exists(path), "\(document.path): \(link.0)")
        count += 1
        guard !link.2.isEmpty else { continue }
        #expect(try Document(path).anchors.contains(String(link.2)), "\(document.path): \(link.0)")
      }
    }
    #expect(count > 50)
  }

  /// `NAME` stands for a name that the reader chooses, `*` for any.
  @Test func filesAndFoldersAreThere() throws {
    let paths = try Checkout.paths(below: "Sources", "Tests", "docs", "lua", "scripts", "Benchmarks", "Examples")
    let names = Set(paths.map { String($0.split(separator: "/").last ?? "") })
    var count = 0
    for document in try Self.documents() {
      for code in document.code where !code.contains("NAME") {
        if let path = code.wholeMatch(of: #/((Sources|Tests|docs|lua|scripts|Benchmarks)\/[\w.\/+-]*)/#) {
          // The page about the example names files of the example.
          let folder = document.path == DocumentBlock.ofExample ? "Examples/" : ""
          #expect(Checkout.exists(folder + String(path.1)), "\(document.path): \(code)")
          count += 1
        }
        for file in code.matches(of: #/[\w+*]*\w\.(swift|c|h)\b/#) where file.0 != "lua.c" {
          let isThere =
            file.0.contains("*")
            ? names.contains { fits($0, file.0) } : names.contains(String(file.0)) || file.0 == "Package.swift"
          #expect(isThere, "\(document.path): \(file.0)")
          count += 1
        }
      }
    }
    #expect(count > 100)
  }

  private func fits(_ name: String, _ pattern: Substring) -> Bool {
    let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
    return name.hasPrefix(parts[0]) && name.hasSuffix(parts[1])
  }

  /// Documents that compare with Core Data, and so use names that are not in the sources.
  private static let ofCoreData: Set = ["docs/core-data.md", "docs/divergences.md"]
  private static let causedElsewhere: Set = [
    "NSStringFromPoint", "pagesCount", "defaultIsolation", "BookshelfClasses", "checkCode",
  ]

  @Test func namesOfTypesAndFunctionsAreInTheSources() throws {
    let known = try words()
    var count = 0
    for document in try Self.documents() where !Self.ofCoreData.contains(document.path) {
      for code in document.code where !code.contains("NAME") {
        for name in names(in: code) {
          #expect(known.contains(name) || Self.causedElsewhere.contains(name), "\(document.path): \(name) in \(code)")
          count += 1
        }
      }
    }
    #expect(count > 300)
  }

  /// Names with an inner capital, as most types and functions have; not those within a text or a path.
  private func names(in code: String) -> [String] {
    code.matches(of: #/(^|[^\w$@%\/.:"'-])(\w*[a-z][A-Z]\w+)/#).map { String($0.2) }.filter { $0.count > 3 }
  }

  /// All words of the sources, and the names of their files and folders.
  private func words() throws -> Set<String> {
    let paths = try Checkout.paths(below: "Sources", "Tests", "lua/types")
    let files = paths.filter { path in [".swift", ".c", ".h", ".lua"].contains { path.hasSuffix($0) } }
    var result: Set<String> = []
    for text in try (files + ["Package.swift"]).map(Checkout.text) + [paths.joined(separator: " ")] {
      let separators = text.utf8.split {
        !($0 >= 48 && $0 <= 57 || $0 >= 65 && $0 <= 90 || $0 >= 97 && $0 <= 122 || $0 == 95)
      }
      for word in separators { result.insert(String(decoding: word, as: UTF8.self)) }
    }
    return result
  }
}
