import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseBatchRequests
@testable import MoonbaseFetchedResults

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Delegates that change the context while they are notified: the list still equals a fetch.
@Suite struct MeddlingDelegateTests {
  enum Meddling: CaseIterable {
    case save, rollback, delete, insert, fetchAgain, close, reset, undo, letGo, move, failingTransaction, child, batch
  }

  private struct World {
    let context: ManagedObjectContext
    var departments: [ManagedObject] = []
    var people: [ManagedObject] = []
    var request = FetchRequest("Person")

    init(_ bench: StoreBench) throws {
      context = bench.context()
      context.undoManager = UndoManager()
      for name in ["A", "B", "C"] {
        departments.append(try context.insert("Department", values: ["name": .string(name)]))
      }
      for index in 0..<9 {
        let person = try context.insert("Person", values: ["age": .int(Int64(index))])
        try person.setObject(departments[index % 3], forKey: "department")
        people.append(person)
      }
      try context.save()
      request.predicate = try Predicate(format: "department.name != 'Z' AND age < 100")
      request.sortDescriptors = [SortDescriptor("department.name"), SortDescriptor("age")]
    }

    func meddle(_ kind: Meddling, _ round: Int, _ controller: inout FetchedResultsController<ManagedObject>?) throws {
      switch kind {
      case .save: try context.save()
      case .rollback: try context.rollback()
      case .delete: try context.delete(people[round])
      case .insert: try context.insert("Person").setObject(departments[2], forKey: "department")
      case .fetchAgain: try controller?.performFetch()
      case .close: try context.close()
      case .reset: try context.reset()
      case .undo: try context.undo()
      case .letGo: controller = nil
      case .move: try people[round].setObject(departments[round % 3], forKey: "department")
      case .failingTransaction:
        #expect(throws: CancellationError.self) { try context.transaction { throw CancellationError() } }
      case .child:
        let child = ManagedObjectContext(parent: context)
        try child.object(with: people[6].objectID).setValue(66, forKey: "age")
        try child.save()
      case .batch: try context.execute(BatchUpdateRequest("Person", set: ["lastName": "batch"]))
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Meddling.allCases)
  func theListIsWhatAFetchFinds(_ store: StoreKind, _ kind: Meddling) throws {
    let bench = try StoreBench(store)
    let world = try World(bench)
    let context = world.context
    var controller: FetchedResultsController<ManagedObject>? = try FetchedResultsController(
      world.request, in: context, sectionNameKeyPath: "department.name")
    try controller?.performFetch()
    var rows = controller?.objectIDs ?? []
    var told = 0
    var failures: [any Error] = []
    controller?.didChangeContent = { change in
      change.apply(to: &rows)
      told += 1
      guard told < 3 else { return }
      do { try world.meddle(kind, told, &controller) } catch { failures.append(error) }
      if kind == .fetchAgain { rows = controller?.objectIDs ?? [] }
    }
    func change(_ object: ManagedObject, _ body: (ManagedObject) throws -> Void) throws {
      if object.managedObjectContext === context, !object.isDeleted { try body(object) }
    }
    try change(world.people[0]) { try $0.setObject(world.departments[2], forKey: "department") }
    try change(world.departments[1]) { try $0.setValue("Z", forKey: "name") }
    try change(world.people[3]) { try $0.setValue(50, forKey: "age") }
    #expect(told > 0 && failures.isEmpty, "\(failures)")
    guard kind != .close else {
      #expect(context.lifetime.isClosed && controller?.objectIDs == rows)
      #expect(throws: GraphError.self) { try controller?.performFetch() }
      return
    }
    try context.processPendingChanges()
    #expect(context.pendingErrors.isEmpty && context.brokenInvariants() == [])
    if let controller {
      #expect(try controller.objectIDs.flatMap(\.self) == context.fetchIDs(world.request))
      #expect(controller.objectIDs == rows)
    } else {
      #expect(kind == .letGo && told == 1)
    }
    try context.rollback()
    try context.insert("Department", values: ["name": "last"])
    try context.save()
    #expect(try bench.saved("Department", "name").contains("last"))
  }
}
