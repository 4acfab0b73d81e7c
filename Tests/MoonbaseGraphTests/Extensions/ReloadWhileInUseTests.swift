import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Extensions reloaded during an operation.
@Suite struct ReloadWhileInUseTests {
  /// An attribute whose text is written to its shadow in `willSave`.
  private static var shout: EntityExtension {
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute(
        "shout", type: .string, inputs: ["firstName"], writePolicy: .delayed,
        get: { try $0.value(forKey: "firstName").string.map { .string($0.uppercased()) } ?? .null },
        set: { try $1.setValue($0.string.map { .string($0.lowercased()) } ?? .null, forKey: "firstName") })
    ]
    return entry
  }

  @Test(arguments: StoreKind.allCases) func aValueThatWaitsForItsAttributeFailsTheSaveUntilItIsBack(_ kind: StoreKind)
    throws
  {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [Self.shout]])
    let ann = try context.insert("Person", values: ["firstName": "ann", "age": 1])
    try context.save()
    try ann.setValue("EVE", forKey: "shout")
    try ann.setValue(2, forKey: "age")
    context.reload([:])
    for _ in 0..<2 {
      let error = #expect(throws: GraphError.self) { try context.save() }
      let message = error?.message ?? ""
      #expect(error?.property == "shout" && error?.entity == "Person" && message.contains("was assigned"), "\(message)")
      #expect(message.contains("generation 1") && message.contains("roll back"), "\(message)")
      #expect(context.hasChanges && ann["age"] == 2)
    }
    context.reload(["Person": Self.shout])
    #expect(ann["shout"] == "EVE")
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["eve"] && bench.saved("Person", "age") == [2])

    // Or the change is discarded.
    try ann.setValue("ZOE", forKey: "shout")
    context.reload([:])
    try context.rollback()
    try ann.setValue(3, forKey: "age")
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["eve"] && bench.saved("Person", "age") == [3])
  }

  @Test(arguments: StoreKind.allCases) func aValueThatWaitsForAnotherTypeIsRefused(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [Self.shout]])
    let ann = try context.insert("Person", values: ["firstName": "ann"])
    try context.save()
    try ann.setValue("EVE", forKey: "shout")
    var other = Self.shout
    other.derived[0].type = .integer64
    context.reload(["Person": other])
    #expect { try context.save() } throws: { "\($0)".contains("Person.shout") }
    #expect(ann["shout"] == "EVE")
    context.reload(["Person": Self.shout])
    try context.save()
    #expect(ann["firstName"] == "eve")
  }

  @Test(arguments: StoreKind.allCases) func undoAndRedoPassOverWhatIsNotThereAnyMore(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [Self.shout]])
    let ann = try context.insert("Person", values: ["firstName": "ann", "age": 1])
    try context.save()
    let undo = UndoManager()
    context.undoManager = undo
    try ann.setValue("EVE", forKey: "shout")
    try ann.setValue(2, forKey: "age")
    try ann.setValue("ZOE", forKey: "shout")
    context.reload([:])
    try undo.undo()
    try undo.undo()
    try undo.undo()
    #expect(ann["age"] == 1 && !ann.hasChanges)
    try undo.redo()
    try undo.redo()
    try undo.redo()
    #expect(ann["age"] == 2)
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["ann"] && bench.saved("Person", "age") == [2])

    // After the extension returns, recorded undo steps have their former effect.
    context.reload(["Person": Self.shout])
    try ann.setValue("MAX", forKey: "shout")
    try undo.undo()
    #expect(ann["shout"] == "ANN" && !ann.hasChanges)
    try undo.redo()
    try context.save()
    #expect(ann["firstName"] == "max")
  }

  @Test(arguments: StoreKind.allCases) func observersAreToldWhatAReloadChanges(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.label]])
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    var told: [String] = []
    var keys: [[String]] = []
    let value = try ann.observe("label") { told.append("\($0.old) \($0.new)") }
    let whole = try ann.observe { keys.append($0.keys.sorted()) }
    context.reload(["Person": .computing("label", .string) { try $0.value(forKey: "firstName") }])
    #expect(told == ["Ann 0 Ann"])
    context.reload(["Person": .computing("label", .string) { .string("\(try $0.value(forKey: "firstName"))") }])
    #expect(told.count == 1)
    // An observer of a removed attribute receives an error value with the reason.
    context.reload([:])
    #expect(told.count == 2 && told.last?.hasPrefix("Ann ") == true)
    #expect(context.drainAccessorErrors().map { "\($0)" }.contains { $0.contains("has no property label") })
    try ann.setValue("Eve", forKey: "firstName")
    #expect(told.count == 2 && context.drainAccessorErrors().isEmpty)
    context.reload(["Person": .label])
    #expect(told.count == 3 && told.last?.hasSuffix(" Eve 0") == true)
    try ann.setValue(5, forKey: "age")
    #expect(told.last == "Eve 0 Eve 5")
    #expect(keys.contains { $0.contains("label") } && keys.last?.contains("age") == true)
    withExtendedLifetime((value, whole)) {}
  }

  @Test(arguments: StoreKind.allCases) func aListFollowsAnotherGeneration(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.label]])
    for (name, age) in [("Ann", 3), ("Bob", 2), ("Cid", 1)] {
      try context.insert("Person", values: ["firstName": .string(name), "age": .int(Int64(age))])
    }
    try context.save()
    var request = try FetchRequest("Person", where: Predicate(format: "label != 'none'"))
    request.sortDescriptors = [SortDescriptor("label")]
    let controller = try FetchedResultsController<ManagedObject>(request, in: context)
    try controller.performFetch()
    var told = 0
    controller.didChangeContent = { _ in told += 1 }
    func names() -> [Value] { controller.fetchedObjects?.map { $0["firstName"] } ?? [] }
    #expect(names() == ["Ann", "Bob", "Cid"])

    context.reload(["Person": .computing("label", .integer64) { try $0.value(forKey: "age") }])
    // A text is no integer: the predicate is refused, and the list stays.
    #expect(names() == ["Ann", "Bob", "Cid"] && told == 0)
    #expect(!context.drainAccessorErrors().isEmpty)
    context.reload(["Person": .computing("label", .string) { .string("\($0["age"])") }])
    #expect(names() == ["Cid", "Bob", "Ann"] && told == 1)
    #expect(context.drainAccessorErrors().isEmpty)
    let ann = try #require(controller.fetchedObjects?.last)
    try ann.setValue(0, forKey: "age")
    #expect(names() == ["Ann", "Cid", "Bob"] && told == 2)

    context.reload([:])
    #expect(names() == ["Ann", "Cid", "Bob"] && told == 2)
    #expect(context.drainAccessorErrors().map { "\($0)" }.contains { $0.contains("has no property label") })
    context.reload(["Person": .label])
    #expect(names() == ["Ann", "Bob", "Cid"] && told == 3)
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func unsavedObjectsStayFindableByWhatIsComputed(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [.computing("label", .string) { try $0.value(forKey: "firstName") }]])
    // Enough objects that an index finds them.
    for number in 0..<40 { try context.insert("Person", values: ["firstName": .string("p\(number)")]) }
    #expect(try context.labels("label == 'p7'") == ["p7"])
    var own = EntityExtension()
    own.derived = [
      DerivedAttribute("label", type: .string, ownInputs: ["firstName"]) {
        .string("q" + (try $0.value(forKey: "firstName").string ?? ""))
      }
    ]
    context.reload(["Person": own])
    #expect(try context.labels("label == 'qp7'") == ["qp7"] && context.labels("label == 'p7'").isEmpty)
    own.derived = [
      DerivedAttribute("label", type: .string, ownInputs: ["firstName"]) { try $0.value(forKey: "firstName") }
    ]
    context.reload(["Person": own])
    #expect(try context.labels("label == 'p7'") == ["p7"] && context.labels("label == 'qp7'").isEmpty)
    try context.save()
    #expect(try context.labels("label == 'p7'") == ["p7"])
  }

  /// A getter, a rule or an observer may reload the extensions that it belongs to.
  @Test(arguments: StoreKind.allCases) func aHookMayReload(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let domain = context.extensionRegistry
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute("label", type: .string) { [unowned domain] _ in
        domain.extensions = [:]
        domain.didChange()
        return "last words"
      }
    ]
    context.reload(["Person": entry])
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    #expect(try ann.value(forKey: "label") == "last words")
    #expect(throws: GraphError.self) { try ann.value(forKey: "label") }
    var saver = EntityExtension()
    saver.willSave = { [unowned context] _ in context.reload(["Person": .label]) }
    context.reload(["Person": saver])
    try context.save()
    #expect(ann["label"] == "Ann 0")
    #expect(try context.labels("label == 'Ann 0'") == ["Ann 0"])
  }

  @Test(arguments: StoreKind.allCases) func whatWasDeletedAndComesBackHasTheExtensionsOfNow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context(["Person": [Self.shout]])
    let undo = UndoManager()
    context.undoManager = undo
    let ann = try context.insert("Person", values: ["firstName": "ann"])
    try context.save()
    try context.delete(ann)
    try context.save()
    context.reload(["Person": .label])
    try undo.undo()
    #expect(ann["label"] == "ann 0")
    #expect { try ann.value(forKey: "shout") } throws: { "\($0)".contains("generation 1") }
    try context.save()
    #expect(try context.labels("label == 'ann 0'") == ["ann 0"])
  }
}
