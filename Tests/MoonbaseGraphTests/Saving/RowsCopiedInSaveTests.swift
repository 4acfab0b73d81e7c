import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The last objects of a page get copies of their rows when rows are read, even during a save that writes those rows.
/// An undo manager reads the values of deleted objects.
@Suite struct RowsCopiedInSaveTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Note") { AttributeDescription("text", type: .string) }
  }

  private func texts(_ bench: StoreBench) throws -> [Value] { try bench.saved("Note", "text") }

  @Test(arguments: StoreKind.allCases) func aChangedObjectHasWhatWasSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let writer = bench.context()
    for number in 0..<8 { try writer.insert("Note", values: ["text": .string("\(number)")]) }
    try writer.save()
    let context = bench.context()
    context.undoManager = UndoManager()
    var request = FetchRequest("Note")
    request.sortDescriptors = [SortDescriptor("text")]
    var all = try context.fetch(request)
    let (changed, deleted) = (all[0], all[1])
    try changed.setValue("new", forKey: "text")
    try context.delete(deleted)
    try context.processPendingChanges()
    // Most objects of the page are released.
    all = []
    #expect(!context.memory.sparsePages.isEmpty)
    try context.save()
    #expect(context.memory.sparsePages.isEmpty)
    #expect(try changed.value(forKey: "text") == "new")
    #expect(context.brokenInvariants() == [])
    #expect(try texts(bench) == ["2", "3", "4", "5", "6", "7", "new"])
    // Later changes apply to the copied row.
    try changed.setValue("newer", forKey: "text")
    try context.save()
    #expect(try texts(bench) == ["2", "3", "4", "5", "6", "7", "newer"])
    try context.undo()
    #expect(try changed.value(forKey: "text") == "new")
  }

  @Test(arguments: StoreKind.allCases) func aNewObjectHasTheRowThatWasSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    let old = try context.insert("Note", values: ["text": "old"])
    try context.save()
    context.undoManager = UndoManager()
    let new = try (0..<8).map { try context.insert("Note", values: ["text": .string("\($0)")]) }
    try context.obtainPermanentIDs(for: new)
    try context.delete(old)
    for object in new.dropFirst(2) { try context.delete(object) }
    try context.processPendingChanges()
    #expect(!context.memory.sparsePages.isEmpty)
    try context.save()
    #expect(context.memory.sparsePages.isEmpty)
    #expect(try texts(bench) == ["0", "1"])
    #expect(new[0].snapshot?.version == 1)
    #expect(context.brokenInvariants() == [])
    // No conflict with the save just made.
    try new[0].setValue("first", forKey: "text")
    try context.save()
    #expect(try texts(bench) == ["1", "first"])
  }
}
