import MoonbasePlatform
import Testing

/// The claims of `docs/core-data.md` about the names of Core Data's classes hold for the sources.
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

  /// The types in which the names of a section are looked up: the counterpart, its superclasses and protocols.
  private static let counterparts = [
    "NSManagedObject": ["ManagedObject", "TypedObject"],
    "NSManagedObjectContext": ["ManagedObjectContext"],
    "NSFetchRequest": ["FetchRequest"],
    "NSPersistentStoreCoordinator": ["PersistentStoreCoordinator"],
    "NSPersistentContainer": ["PersistentContainer"],
    "NSPersistentStoreDescription": ["PersistentStoreDescription"],
    "NSFetchedResultsController": ["FetchedResultsController"],
    "NSMergeConflict": ["MergeConflict"],
    "NSConstraintConflict": ["MergeConflict"],
  ]

  @Test func theClassesAreThere() throws {
    let sections = try Self.rows()
    #expect(sections.map(\.heading).sorted() == Self.counterparts.keys.sorted())
    #expect(sections.map(\.rows.count).reduce(0, +) > 170)
  }

  /// A row names a declaration of the counterpart, or says why there is none.
  @Test func counterpartsAreDeclared() throws {
    let declared = try DeclaredNames()
    for (heading, rows) in try Self.rows() {
      for row in rows {
        let names = names(in: row.counterpart)
        if row.counterpart.hasPrefix("none: ") {
          #expect(row.counterpart.count > 10, "\(heading): \(row.name) says not why")
        } else {
          #expect(!names.isEmpty, "\(heading): \(row.name) has no counterpart, and nothing says why")
        }
        let types = (Self.counterparts[heading] ?? []) + types(namedIn: row.counterpart, declared)
        for name in names where !Self.causedElsewhere.contains(name.joined(separator: ".")) {
          // A separate constant, so that the message does not print all names.
          let isThere = declared.has(name, in: types)
          #expect(isThere, "\(heading): \(row.name): \(name.joined(separator: ".")) is not declared in \(types)")
        }
      }
    }
  }

  /// The name must be declared in its type, not just anywhere.
  @Test func aNameIsLookedForInItsType() throws {
    let declared = try DeclaredNames()
    #expect(declared.has(["save"], in: ["ManagedObjectContext"]) && !declared.has(["save"], in: ["FetchRequest"]))
    #expect(declared.has(["SQLiteStore", "destroy"], in: []) && !declared.has(["SQLiteStore", "save_"], in: []))
    #expect(declared.has(["PersistentStoreDescription", "inMemory"], in: []) && declared.has(["MergePolicy"], in: []))
    #expect(declared.has(["init"], in: ["ManagedObject"]) && !declared.has(["NoSuchType"], in: ["ManagedObject"]))
  }

  /// Names of Core Data and of the language that reasons mention.
  private static let causedElsewhere: Set = ["Sendable", "NSPersistentHistoryTrackingKey"]

  /// Further types whose members a row may mean: the types that it names, or describes in words.
  private func types(namedIn text: String, _ declared: DeclaredNames) -> [String] {
    let words = [
      ("of the store", "PersistentStore"), ("of the coordinator", "PersistentStoreCoordinator"),
      ("`context.", "ManagedObjectContext"), ("of the change", "FetchedResultsChange"),
      ("of the section", "FetchedResultsSection"),
    ]
    return words.filter { text.contains($0.0) }.map(\.1) + names(in: text).map { $0[0] }.filter(declared.isType)
  }

  /// The back-quoted names in parts: `fetch` for `context.fetch(_:)`, both names for `SQLiteStore.destroy(storeAt:)`.
  private func names(in text: String) -> [[String]] {
    text.matches(of: #/`([^`]+)`/#).compactMap { code in
      let bare = String(code.1).replacing(#/\([^)]*\)|\[[^\]]*\]/#, with: "")
      let parts = bare.split(separator: ".").map(String.init)
      let rest =
        parts.count > 1 && ["context", "object", "Person"].contains(parts[0]) ? Array(parts.dropFirst()) : parts
      // For example `object["key"]`, or `Person` alone.
      return rest.isEmpty || code.1.hasPrefix("object[") ? nil : rest
    }
  }
}

/// The public declarations of each type.
private struct DeclaredNames {
  private var members: [String: Set<String>] = [:]
  private var types: Set<String> = []

  init() throws {
    let type =
      #/^(?:@\w+(?:\([^)]*\))? )*(?:(public|open|package|nonisolated|final|indirect) )*(class|struct|enum|protocol|actor|extension) ([\w.]+)/#
    let member =
      #/^ +(?:@\w+(?:\([^)]*\))? )*((?:[\w()]+ )*)(?:func|var|let|case|class|struct|enum|actor|typealias|protocol) `?(\w+)/#
    let initializer = #/^ +(?:@\w+(?:\([^)]*\))? )*(?:[\w()]+ )*init[(?]/#
    for file in try Checkout.paths(below: "Sources") where file.hasSuffix(".swift") {
      var current: (name: String, isProtocol: Bool)?
      for line in try Checkout.text(file).split(separator: "\n") {
        if line.hasPrefix("}") { current = nil }
        if let found = line.firstMatch(of: type) {
          let name = String(found.3).split(separator: ".").last.map(String.init) ?? ""
          let isDeclared = line.contains("public ") || line.contains("open ")
          if isDeclared, found.2 != "extension" { types.insert(name) }
          current = (name, found.2 == "protocol" && isDeclared)
        } else if let current {
          if let found = line.firstMatch(of: member) {
            let words = found.1.split(separator: " ")
            guard current.isProtocol || words.contains("public") || words.contains("open") || line.contains(" case ")
            else { continue }
            members[current.name, default: []].insert(String(found.2))
            if line.contains(#/\b(class|struct|enum|actor|protocol|typealias) \w/#) { types.insert(String(found.2)) }
          } else if line.contains("public "), line.firstMatch(of: initializer) != nil {
            members[current.name, default: []].insert("init")
          }
        }
      }
    }
  }

  func isType(_ name: String) -> Bool { types.contains(name) }

  /// Whether a type, a member of a type, or a member of one of `types` is declared. `Type` also stands for its
  /// initializer.
  func has(_ name: [String], in types: [String]) -> Bool {
    if name.count == 1 {
      return isType(name[0]) || types.contains { members[$0]?.contains(name[0]) == true }
    }
    if isType(name[0]) { return members[name[0]]?.contains(name[1]) == true }
    return types.contains { members[$0]?.contains(name[0]) == true }
  }
}
