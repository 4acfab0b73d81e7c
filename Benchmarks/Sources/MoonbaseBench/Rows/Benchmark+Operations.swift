import Foundation
import Moonbase

/// Further operations with many in-memory objects. These rows have a goal for growth only, so they run only if named.
/// Their yardstick inserts as many keys into a set, which measures the cost of more distant memory.
extension Benchmark {
  static var operations: [Benchmark] {
    [
      operation("rollback", "giving up a change of each object", { try $0.changeAll() }) { try $0.context.rollback() },
      operation(
        "redo", "redoing a change of each object", undoing: true,
        {
          try $0.changeAll()
          try $0.context.undo()
        }
      ) { try $0.context.redo() },
      operation("refresh", "making all objects faults, and firing each") {
        try $0.context.refreshAllObjects()
        for item in $0.items { try item.fireFault() }
      },
      operation("delete", "deleting objects of which none leads to another, and saving that", { try $0.loosen() }) {
        for item in $0.items { try $0.context.delete(item) }
        try $0.context.save()
      },
      operation("delete-cascade", "deleting objects with their lists of 100, and saving that") {
        for list in $0.lists { try $0.context.delete(list) }
        try $0.context.save()
      },
      operation("move", "moving members of one ordered list of all", listCount: 1) { things in
        let list = try things.lists[0].mutableOrderedSetValue(forKey: "items")
        for number in things.items.indices { try list.move(from: number, to: number &* 7919 % things.items.count) }
      },
      operation(
        "merge", "merging what another context saved of each object",
        {
          try $0.changeAll(in: ManagedObjectContext($0.context.coordinator))
        }
      ) { try $0.context.mergeChanges(from: SavedObjectIDs(updated: $0.items.map(\.objectID))) },
      operation("child-save", "saving a change of each object in a child context", { try $0.makeChild() }) {
        try $0.child?.save()
      },
      operation("observe", "telling an observer of each object of a change", { try $0.observe() }) {
        try $0.changeAll()
      },
      operation("results", "a results controller that follows a change of each object", { try $0.follow() }) {
        try $0.changeAll()
      },
      operation("batch-update", "updating all objects by one request") {
        try $0.context.execute(BatchUpdateRequest("Item", set: ["number": 7]))
      },
      operation("batch-delete", "deleting all objects by one request", { try $0.loosen() }) {
        try $0.context.execute(BatchDeleteRequest(FetchRequest("Item")))
      },
    ]
  }

  private static func operation(
    _ name: String, _ title: String, listCount: Int? = nil, undoing: Bool = false,
    _ prepare: @escaping (Lists) throws -> Void = { _ in }, _ body: @escaping (Lists) throws -> Void
  ) -> Benchmark {
    var lists: Lists?
    return Benchmark(
      name: name, title: "\(title); beside: as many keys into a set", goal: .none, isByNameOnly: true,
      prepare: { workplace in
        // Changes made in a round are permanent.
        lists = nil
        let made = try Lists(workplace.count, listCount: listCount ?? max(1, workplace.count / 100), undoing: undoing)
        try prepare(made)
        lists = made
      },
      yardstick: { workplace in
        var keys: Set<Int64> = []
        for key in 0..<Int64(workplace.count) { keys.insert(key) }
        return .number(Int64(keys.count))
      },
      subject: { workplace in
        if let lists { try body(lists) }
        return .number(Int64(workplace.count))
      })
  }
}

/// Items in ordered lists, saved.
private final class Lists {
  let context: ManagedObjectContext
  private(set) var lists: [ManagedObject] = []
  private(set) var items: [ManagedObject] = []
  private(set) var child: ManagedObjectContext?
  private var observations: [Observation] = []
  private var controller: FetchedResultsController<ManagedObject>?
  private var toldCount = 0

  private static var model: ManagedObjectModel {
    var items = RelationshipDescription.toMany("items", destination: "Item", inverse: "list")
    items.isOrdered = true
    items.deleteRule = .cascade
    return ManagedObjectModel {
      EntityDescription("List") { items }
      EntityDescription("Item") {
        AttributeDescription("number", type: .integer64)
        RelationshipDescription.toOne("list", destination: "List", inverse: "items")
      }
    }
  }

  init(_ count: Int, listCount: Int, undoing: Bool) throws {
    context = try ManagedObjectContext(PersistentContainer(model: Self.model, store: .inMemory).coordinator)
    for _ in 0..<listCount { lists.append(try context.insert("List")) }
    for number in 0..<count {
      let item = try context.insert("Item", values: ["number": .int(Int64(number))])
      try lists[number * listCount / count].add(item, to: "items")
      items.append(item)
    }
    try context.save()
    if undoing { context.undoManager = UndoManager() }
  }

  func changeAll() throws { try change(items, in: context) }

  func changeAll(in other: ManagedObjectContext) throws {
    try change(items.map { try other.object(with: $0.objectID) }, in: other)
    try other.save()
  }

  private func change(_ items: [ManagedObject], in context: ManagedObjectContext) throws {
    for (number, item) in items.enumerated() { try item.setValue(.int(Int64(number &* 31 % 1000)), forKey: "number") }
    try context.processPendingChanges()
  }

  /// Removes the items from their lists.
  func loosen() throws {
    for item in items { try item.setObject(nil, forKey: "list") }
    try context.save()
  }

  func makeChild() throws {
    let new = ManagedObjectContext(parent: context)
    try change(items.map { try new.object(with: $0.objectID) }, in: new)
    child = new
  }

  func observe() throws {
    for item in items { observations.append(try item.observe("number") { [weak self] _ in self?.toldCount += 1 }) }
  }

  func follow() throws {
    var request = FetchRequest("Item")
    request.sortDescriptors = [SortDescriptor("number")]
    let new = try FetchedResultsController<ManagedObject>(request, in: context)
    try new.performFetch()
    controller = new
  }
}
