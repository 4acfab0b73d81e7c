import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Batch insert requests, which bypass contexts.
@Suite struct BatchInsertTests {
  @Test(arguments: StoreKind.withFolder) func dictionariesBecomeObjectsWithDefaults(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.awakeFromInsert = { _ in Issue.record("a hook was called") }
      entry.willSave = { _ in Issue.record("a hook was called") }
      entry.validate["firstName"] = { _, _ in .init("is refused") }
      entry.normalize["firstName"] = { _, _ in "normalized" }
    }
    var request = BatchInsertRequest("Person", objects: [["firstName": "A", "age": 200], ["firstName": "B"]])
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 2 && result.changes?.inserted == result.objectIDs)
    #expect(try bench.saved("Person", "firstName") == ["A", "B"])
    #expect(try bench.saved("Person", "age") == [0, 200])
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    let ids = try #require(result.objectIDs)
    #expect(try ids.map { try context.object(with: $0)["firstName"] } == ["A", "B"])
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.allCases) func handlersAreAskedUntilTheySayStop(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    var next = 0
    var request = BatchInsertRequest(
      "Employee",
      dictionaryHandler: { values in
        values["firstName"] = .string("d\(next)")
        next += 1
        return next > 3
      })
    request.resultType = .count
    let first = try context.execute(request)
    #expect(first.count == 3 && first.objectIDs == nil && first.changes == nil)
    var objects = 0
    let result = try context.execute(
      BatchInsertRequest(
        "Employee",
        managedObjectHandler: { employee in
          #expect(employee.entity.name == "Employee")
          try employee.setValue(.string("o\(objects)"), forKey: "firstName")
          objects += 1
          return objects > 2
        }))
    #expect(result.count == nil && result.objectIDs == nil)
    #expect(try bench.saved("Employee", "firstName") == ["d0", "d1", "d2", "o0", "o1"])
    #expect(try context.execute(BatchInsertRequest("Employee", objects: [])).count == nil)
  }

  @Test(arguments: StoreKind.allCases) func aTransformerMakesTheBytes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var extensions = ClosureExtensions()
    extensions.register {
      ValueTransformer(
        "ColorTransformer", transformedValue: { .data(Data("\($0)".utf8)) },
        reverseTransformedValue: {
          if case .data(let data) = $0 { .string(String(decoding: data, as: UTF8.self)) } else { $0 }
        })
    }
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    try context.execute(BatchInsertRequest("Person", objects: [["color": "red"]]))
    try context.execute(BatchUpdateRequest("Person", set: ["firstName": "A"]))
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    #expect(person["color"] == "red")
    var update = BatchUpdateRequest("Person", set: ["color": "blue"])
    update.resultType = .objectIDs
    let changes = try #require(try context.execute(update).changes)
    try context.mergeChanges(from: changes)
    #expect(person["color"] == "blue" && person["firstName"] == "A")
  }

  @Test(arguments: StoreKind.allCases) func takenUniqueValuesFailOrAreMerged(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    try context.insert("Person", values: ["email": "a", "firstName": "old", "lastName": "kept"])
    try context.save()
    var request = BatchInsertRequest(
      "Person", objects: [["email": "b", "firstName": "B"], ["email": "a", "firstName": "new"]])
    request.resultType = .objectIDs
    let error = #expect(throws: GraphError.self) { try context.execute(request) }
    #expect(error?.code == .constraintConflict)
    #expect(try bench.saved("Person", "email") == ["a"])
    context.mergePolicy = .mergeByPropertyStoreTrump
    #expect(try context.execute(request).count == 1)
    #expect(try bench.saved("Person", "firstName") == ["B", "old"])
    context.mergePolicy = .mergeByPropertyObjectTrump
    let result = try context.execute(
      BatchInsertRequest("Person", objects: [["email": "a", "firstName": "new"], ["email": "c"]]).telling(.objectIDs))
    #expect(result.count == 2 && result.changes?.inserted.count == 1 && result.changes?.updated.count == 1)
    #expect(try bench.saved("Person", "email") == ["a", "b", "c"])
    #expect(try bench.saved("Person", "firstName") == [.null, "B", "new"])
    #expect(try bench.saved("Person", "lastName") == [.null, .null, "kept"])
  }

  /// A batch request evaluates no validation rule, not even the model's own; the next save that updates the object
  /// does.
  @Test(arguments: StoreKind.allCases) func aRowWithoutARequiredValueIsStoredAndItsNextUpdateFails(
    _ kind: StoreKind
  ) throws {
    let bench = try StoreBench(
      kind,
      ManagedObjectModel {
        EntityDescription("Note") {
          AttributeDescription("title", type: .string).required()
          AttributeDescription("stars", type: .integer16).required(default: 1).between(0, 5)
        }
      })
    let context = bench.context()
    try context.execute(BatchInsertRequest("Note", objects: [["title": "a", "stars": 9], ["stars": 2]]))
    let notes = try context.fetch(FetchRequest("Note", where: "title = NULL"))
    #expect(notes.map { $0["stars"] } == [2])
    notes[0]["stars"] = 3
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .missingMandatoryProperty && error?.property == "title")
    notes[0]["title"] = "b"
    try context.save()
    #expect(Set(try bench.saved("Note", "title")) == ["a", "b"])
  }

  @Test(arguments: StoreKind.allCases) func anErrorOfUniqueValuesNamesTheRowAndTheValue(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let saved = try context.insert("Person", values: ["email": "a"])
    try context.save()
    func refusal(_ emails: [Value]) -> GraphError? {
      #expect(throws: GraphError.self) {
        try context.execute(BatchInsertRequest("Person", objects: emails.map { ["email": $0] }))
      }
    }
    let taken = refusal(["b", "c", "a"])
    #expect(
      taken?.message
        == "Person: another object (\(saved.objectID)) has the same email (\"a\") as row 3 of the batch insert")
    #expect(taken?.property == "email" && taken?.value == "a")
    let twice = try #require(refusal(["b", "c", "b"])).message
    #expect(twice.contains("row 1 of the batch insert") && twice.contains("row 3 of the batch insert"), "\(twice)")
    let several = try #require(refusal(["a", "b", "c", "c"])).details.map(\.message)
    #expect(
      several.count == 2 && several.contains { $0.hasSuffix("(\"a\") as row 1 of the batch insert") }, "\(several)")
    // Row 1 would update the saved object; rows 2 and 3 keep their numbers in the message.
    context.mergePolicy = .mergeByPropertyObjectTrump
    let behind = try #require(refusal(["a", "b", "b"])).details.map(\.message).joined()
    #expect(behind.contains("row 2 of the batch insert") && behind.contains("row 3 of the batch insert"), "\(behind)")
  }

  @Test(
    arguments: [
      (["nme": "x"], "no property nme"), (["age": "x"], "age"), (["department": .null], "is a relationship"),
      (["friends": .list([])], "is a relationship"), (["fullName": "x"], "is transient"),
    ] as [([String: Value], String)])
  func aRowThatDoesNotFitIsNamedAndNothingIsWritten(_ values: [String: Value], _ message: String) throws {
    for kind in StoreKind.allCases {
      let bench = try StoreBench(kind)
      let context = bench.context()
      let error = #expect(throws: GraphError.self) {
        try context.execute(BatchInsertRequest("Person", objects: [["firstName": "A"], values]))
      }
      #expect(error?.message.contains("row 2 of the batch insert") == true, "\(error as Any)")
      #expect(error?.message.contains(message) == true, "\(error as Any)")
      #expect(try context.count(FetchRequest("Person")) == 0)
    }
  }

  @Test func handlersAreKeptFromWhatTheyMayNotDo() throws {
    struct Stop: Error {}
    let bench = try StoreBench(.memory)
    let context = bench.context()
    func refusal(_ body: @escaping (ManagedObject) throws -> Void) -> String {
      var count = 0
      do {
        try context.execute(
          BatchInsertRequest(
            "Person",
            managedObjectHandler: { person in
              count += 1
              if count == 2 { try body(person) }
              return count > 3
            }))
        return "no error"
      } catch {
        return "\(error)"
      }
    }
    let stopped = refusal { _ in throw Stop() }
    #expect(stopped == "Stop()")
    let saving = refusal { try $0.managedObjectContext?.save() }
    #expect(saving.contains("while the context runs a hook"))
    let deleting = refusal { try $0.managedObjectContext?.delete($0) }
    #expect(deleting.contains("deleted its object"))
    let inserting = refusal { try $0.managedObjectContext?.insert("Project") }
    #expect(inserting.contains("inserted or changed other objects"))
    let relating = refusal { try $0.add($0.managedObjectContext?.insert("Person") ?? $0, to: "friends") }
    #expect(relating.contains("Person.friends"))
    let mistyping = refusal { $0["age"] = "text" }
    #expect(mistyping.contains("age"))
    #expect(try context.count(FetchRequest("Person")) == 0)
    // A handler must not use the context that executes the request.
    let using = refusal { _ in try context.insert("Department") }
    #expect(using == "no error")
    #expect(try context.count(FetchRequest("Person")) == 3)
  }

  @Test func whatCannotBeInsertedIsToldBeforeAHandlerIsAsked() throws {
    var model = People.model()
    model.entities[0].isAbstract = true
    let bench = try StoreBench(.memory, model)
    let context = bench.context()
    func ask(_ entity: String, in context: ManagedObjectContext) -> GraphError? {
      #expect(throws: GraphError.self) {
        try context.execute(
          BatchInsertRequest(
            entity,
            dictionaryHandler: { _ in
              Issue.record("was asked")
              return true
            }))
      }
    }
    #expect(ask("Person", in: context)?.message.contains("is abstract") == true)
    #expect(ask("Persn", in: context)?.code == .unknownName)
    let empty = ManagedObjectContext(
      PersistentStoreCoordinator(model: try model.resolved()), extensionRegistry: ExtensionRegistry())
    #expect(ask("Employee", in: empty)?.code == .incompatibleSchema)
  }

  @Test(arguments: StoreKind.allCases) func anErrorOfAHandlerNamesItsRow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for isQuiet in [false, true] {
      var count = 0
      let error = #expect(throws: GraphError.self) {
        try context.execute(
          BatchInsertRequest(
            "Person",
            managedObjectHandler: { person in
              count += 1
              if count == 3 {
                if isQuiet { _ = person["nothing"] } else { try person.setValue(70000, forKey: "age") }
              }
              return count > 5
            }))
      }
      #expect(error?.message.hasPrefix("row 3 of the batch insert: ") == true, "\(error as Any)")
      #expect(try context.count(FetchRequest("Person")) == 0)
    }
  }
}

extension BatchInsertRequest {
  /// Returns a copy of the request with another result type.
  func telling(_ type: BatchResultType) -> BatchInsertRequest {
    var copy = self
    copy.resultType = type
    return copy
  }
}
