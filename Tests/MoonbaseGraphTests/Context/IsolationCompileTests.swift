import MoonbaseTestSupport
import Testing

/// Code that the compiler must refuse because an object leaves its context's executor, and code that it must accept.
@Suite struct IsolationCompileTests {
  private static let imports = """
    import Foundation
    import MoonbaseGraph
    import MoonbaseModel

    final class Box { var object: ManagedObject? }
    actor Keeper {
      var object: ManagedObject?
      func keep(_ new: ManagedObject) { object = new }
    }
    """

  /// Leaks, by name, that only region-based isolation finds; all are compiled in one run.
  private static let leaks = [
    "an array": "try await b.perform { c in try c.fetch(FetchRequest(\"P\")) }",
    "one, waited for": "try b.performAndWait { c in try c.insert(\"P\") }",
    "an optional": "try await b.perform { c in try c.fetch(FetchRequest(\"P\")).first }",
    "a tuple": "try await b.perform { c in (1, try c.insert(\"P\")) }",
    "a dictionary": "try await b.perform { c in [\"a\": try c.insert(\"P\")] }",
    "a result": "try await b.perform { c in Result { try c.insert(\"P\") } }",
    "a closure": "try await b.perform { c in let p = try c.insert(\"P\"); return { p[\"age\"] = 1 } }",
    "a new box": "try await b.perform { c in let new = Box(); new.object = try c.insert(\"P\"); return new }",
    "fetched objects": "try await b.perform { c in try c.fetchedObjects(FetchRequest(\"P\")) }",
    "a set proxy": "try await b.perform { c in try c.insert(\"P\").mutableSetValue(forKey: \"friends\") }",
    "the context": "try await b.perform { c in c }",
    "the undo manager": "try await b.perform { c in c.undoManager }",
    "a captured variable":
      "var kept: ManagedObject?; try await b.perform { c in kept = try c.insert(\"P\") }; print(kept as Any)",
    "a captured box": "try await b.perform { c in box.object = try c.insert(\"P\") }; print(box.object as Any)",
    "a task": "try await b.perform { c in let p = try c.insert(\"P\"); Task { p[\"age\"] = 1 }; p[\"age\"] = 2 }",
    "a detached task": "try await b.perform { c in let p = try c.insert(\"P\"); Task.detached { p[\"age\"] = 1 } }",
    "a stream": "try await b.perform { c in _ = stream.yield(try c.insert(\"P\")) }",
    "another context":
      "try await b.perform { c in let p = try c.insert(\"P\"); try other.performAndWait { _ in p[\"age\"] = 1 } }",
    "into perform": "let p = try own.insert(\"P\"); try await b.perform { _ in p[\"age\"] = 1 }; print(p)",
    "a child of another context":
      "try await b.perform { _ in try ManagedObjectContext(parent: own).save() }; print(own)",
    "an array, after a suspension":
      "try await b.perform { c in let all = try c.fetch(FetchRequest(\"P\")); await Task.yield(); return all }",
    "an actor, within a closure":
      "try await b.perform { c in let p = try c.insert(\"P\"); await keeper.keep(p); print(p) }",
    "a child task, within a closure":
      "try await b.perform { c in let p = try c.insert(\"P\"); async let n = p[\"age\"]; print(await n, p) }",
    "the context of a transaction":
      "try await own.transaction { c in let p = try c.insert(\"P\"); await keeper.keep(p); print(p) }",
    "an actor": "let p = try own.insert(\"P\"); await keeper.keep(p); print(p)",
  ]

  @Test func nothingLeaksOutOfPerform() throws {
    var source = Self.imports
    var places: [(name: String, lines: ClosedRange<Int>)] = []
    for (name, body) in Self.leaks.sorted(by: { $0.key < $1.key }) {
      let start = source.split(separator: "\n", omittingEmptySubsequences: false).count + 1
      source += """

        func leak\(places.count)(
          _ b: BackgroundContext, _ other: BackgroundContext, _ own: ManagedObjectContext, _ box: Box, _ keeper: Keeper,
          _ stream: AsyncStream<ManagedObject>.Continuation
        ) async throws {
          let leaked = \(Self.isExpression(body) ? body : "()")
          \(Self.isExpression(body) ? "" : body)
          print(leaked)
        }
        """
      places.append((name, start...source.split(separator: "\n", omittingEmptySubsequences: false).count))
    }
    let check = try CompileCheck(source)
    #expect(!check.succeeded)
    for (name, lines) in places {
      #expect(check.linesThatLeak.contains(where: lines.contains), "\(name) leaks: \(check.output)")
    }
  }

  /// Leaks that the compiler accepts, as `docs/graph.md` says; the debug check finds them (`ConfinementTests`). A leak
  /// that a newer compiler refuses moves to the list above.
  @Test func whatTheCompilerLetsPassIsKnown() throws {
    let passing = [
      "try await b.perform { c in try c.fetch(Person.self).lazy.map(\\.n) }",
      "try await b.perform { c in try c.fetch(Person.self).lazy.filter { $0.n > 1 } }",
      "try await b.perform { c in try c.fetch(Person.self).first as Any }",
      "try await b.perform { c in throw Failing(person: try c.insert(Person.self)) }",
    ]
    let source =
      Self.imports + """

        final class Person: ManagedObject {
          static let key = Attribute<Person, Int>("n")
          var n: Int { self[Self.key] }
        }
        struct Failing: Error { let person: Person }

        """
      + passing.indices.map {
        "func pass\($0)(_ b: BackgroundContext) async throws { let x = \(passing[$0]); print(x) }\n"
      }
      .joined()
    let check = try CompileCheck(source)
    #expect(check.succeeded, "\(check.output)")
  }

  private static func isExpression(_ body: String) -> Bool {
    body.hasPrefix("try await b.perform { c in") && !body.contains("print") || body.hasPrefix("await b.")
      || body.hasPrefix("try b.performAndWait")
  }

  /// Code refused by checks that run before region analysis.
  @Test(arguments: [
    "func f(_ b: BackgroundContext) throws { try b.performAndWait { c in let p = try c.insert(\"P\"); DispatchQueue.global().async { p[\"age\"] = 1 } } }",
    "func f(_ view: @MainActor () throws -> ManagedObjectContext) async throws { print(try await MainActor.run { try view().insert(\"P\") }) }",
    "func f(_ b: BackgroundContext) async throws { let s: any Sendable = try await b.perform { c in try c.insert(\"P\") }; print(s) }",
  ])
  func objectsAreNotSendable(_ source: String) throws {
    let check = try CompileCheck(Self.imports + "\n" + source)
    #expect(!check.succeeded && check.output.contains("Sendable"), "\(check.output)")
    #expect(!check.output.contains("missing required module"), "\(check.output)")
  }

  /// Code of an app, compiled with each default isolation.
  @Test(arguments: [
    [], ["-enable-upcoming-feature", "NonisolatedNonsendingByDefault"], ["-default-isolation", "MainActor"],
    ["-default-isolation", "MainActor", "-enable-upcoming-feature", "NonisolatedNonsendingByDefault"],
  ])
  func anAppCompilesWithEachSetting(_ options: [String]) throws {
    let check = try CompileCheck(
      """
      import MoonbaseGraph
      import MoonbaseModel

      final class Person: ManagedObject {
        static let name = Attribute<Person, String>("name")
        static let size = Attribute<Person, Size>("size")
        static let friends = ToMany<Person, Person>("friends")

        var name: String {
          get { self[Self.name] }
          set { self[Self.name] = newValue }
        }
        var friends: [Person] { self[Self.friends] }
        var initial: Character?

        override class var overriddenLifecycleMethods: LifecycleHooks { [.awakeFromInsert, .didTurnIntoFault] }
        override func awakeFromInsert() throws {
          try super.awakeFromInsert()
          name = "new"
        }
        override func didTurnIntoFault() throws {
          initial = nil
          try super.didTurnIntoFault()
        }
      }

      enum Size: String, AttributeValue {
        case small, large

        static func read(_ value: Value) -> Size? {
          if case .string(let text) = value { Size(rawValue: text) } else { nil }
        }
        static var defaultWhenNull: Size { .small }
        var attributeValue: Value { .string(rawValue) }
      }

      @MainActor final class Screen {
        let context: ManagedObjectContext
        var people: [Person] = []

        init(_ context: ManagedObjectContext) { self.context = context }

        func load(_ ids: [ManagedObjectID]) throws {
          people = try context.objects(with: ids).compactMap { $0 as? Person }
        }

        func rename() throws {
          for person in people { person.name += "!" }
          people.sort { ($0[Person.size].rawValue, $0.name) < ($1[Person.size].rawValue, $1.name) }
          try context.save()
        }

        func follow(_ background: BackgroundContext) async throws {
          try load(await background.perform { context in try context.fetchIDs(FetchRequest("Person")) })
          let names = try await background.perform { context in try context.fetch(Person.self).map(\\.name) }
          let count = try background.performAndWait { context in
            let person = try context.insert(Person.self)
            person.name = "Ann"
            try context.save()
            return try context.count(FetchRequest("Person"))
          }
          print(names, count)
        }

        func merge(_ coordinator: PersistentStoreCoordinator) async throws {
          for await saved in coordinator.saves { try context.mergeChanges(from: saved) }
        }
      }
      """, options: options)
    #expect(check.succeeded, "\(check.output)")
  }
}
