import MoonbasePlatform
import Testing

/// What `docs/core-data.md` says of the names of Core Data's classes holds for the sources.
@Suite struct CoreDataNameTests {
  private struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let counterpart: String

    var testDescription: String { name }
  }

  private static func rows() throws -> [(heading: String, rows: [Row])] {
    let text = try Checkout.text("docs/core-data.md")
    guard let start = text.range(of: "## Name by name") else { return [] }
    return text[start.upperBound...].components(separatedBy: "\n### ").dropFirst().map { section in
      let lines = section.split(separator: "\n")
      let rows = lines.filter { $0.hasPrefix("| `") }.map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        return Row(name: cells[0], counterpart: cells.count == 2 ? cells[1] : "")
      }
      return (String(lines.first ?? ""), rows)
    }
  }

  @Test func sixClassesAreThere() throws {
    let sections = try Self.rows()
    #expect(
      sections.map(\.heading) == [
        "NSManagedObject", "NSManagedObjectContext", "NSFetchRequest", "NSPersistentStoreCoordinator",
        "NSPersistentContainer", "NSFetchedResultsController",
      ])
    #expect(sections.map(\.rows.count).reduce(0, +) > 150)
  }

  /// A row names what is declared, or says why there is nothing.
  @Test func counterpartsAreDeclared() throws {
    let declared = try declaredNames()
    for (heading, rows) in try Self.rows() {
      for row in rows {
        if row.counterpart.hasPrefix("not yet") { continue }
        let names = names(in: row.counterpart)
        if row.counterpart.hasPrefix("none: ") {
          #expect(row.counterpart.count > 10, "\(heading): \(row.name) says not why")
        } else {
          #expect(!names.isEmpty, "\(heading): \(row.name) has no counterpart, and nothing says why")
        }
        for name in names { #expect(declared.contains(name), "\(heading): \(row.name): \(name) is not declared") }
      }
    }
  }

  /// What is there now is no longer something that is not there yet.
  @Test func whatIsNotThereYetIsNotDeclared() throws {
    let declared = try declaredNames()
    // These names have other meanings elsewhere.
    let ofOthers: Set = [
      "name", "parent", "metadata", "setMetadata", "remove", "assign", "mergePolicy",
    ]
    for (heading, rows) in try Self.rows() {
      for row in rows where row.counterpart.hasPrefix("not yet") {
        for name in names(in: row.name) where !ofOthers.contains(name) {
          #expect(!declared.contains(name), "\(heading): \(name) is declared: say what it is")
        }
      }
    }
  }

  /// The names in backticks: of `context.fetch(_:)` it is `fetch`, of `FetchColumn` that.
  private func names(in text: String) -> [String] {
    text.matches(of: #/`([^`]+)`/#).flatMap { code -> [String] in
      let bare = String(code.1).replacing(#/\([^)]*\)|\[[^\]]*\]/#, with: "")
      let parts = bare.split(separator: ".").map(String.init)
      return parts.count > 1 && ["context", "object", "Person"].contains(parts[0]) ? Array(parts.dropFirst()) : parts
    }
  }

  /// Types, functions and properties that are declared for others to use.
  private func declaredNames() throws -> Set<String> {
    let files = try Checkout.paths(below: "Sources").filter { $0.hasSuffix(".swift") }
    let declaration =
      #/(?m)^\s*(?:@\w+(?:\([^)]*\))? )*(?:public|open)\b[^=\n{]*?\b(?:func|var|let|class|struct|enum|protocol|typealias|actor) (\w+)/#
    var result: Set<String> = ["init"]
    for file in files {
      for match in try Checkout.text(file).matches(of: declaration) { result.insert(String(match.1)) }
    }
    return result
  }
}
