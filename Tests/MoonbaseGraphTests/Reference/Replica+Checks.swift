import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Comparing a context with the naive model.
extension Replica {
  /// Checks the invariants between operations; with `isThorough` all values are read.
  func check(isThorough: Bool) throws {
    mistakes += context.brokenInvariants()
    mistakes += context.pendingErrors.map { "pending: \($0)" }
    try checkChanges()
    checkGroups()
    guard !isPlain else { return try checkPlain(isThorough: isThorough) }
    try checkKnown()
    if isThorough {
      mistakes += try observed().differences(from: world.visible)
      mistakes += context.brokenInvariants()
    }
  }

  private func numbers(_ objects: [ManagedObject]) throws -> Set<Int> {
    Set(
      try objects.map { object in
        guard let number = self.objects.first(where: { $0.value === object })?.key else {
          throw ReferenceMistake("\(object.objectID) is changed and known to nobody")
        }
        return number
      })
  }

  private func checkChanges() throws {
    let shown = world.visible
    let inserted = Set(shown.nodes.keys).subtracting(committed.nodes.keys)
    let deleted = Set(committed.nodes.keys).subtracting(shown.nodes.keys)
    let differing = shown.nodes.filter { number, node in
      committed.nodes[number].map { $0 != node.persistent } ?? false
    }.keys
    let updated = try numbers(context.updatedObjects)
    expect(try numbers(context.insertedObjects), inserted, "inserted")
    expect(try numbers(context.deletedObjects), deleted, "deleted")
    // An object that differs only because of a pending deletion counts as updated once the deletion is applied.
    let wanted = world.marked.isEmpty ? Set(differing) : []
    if !updated.isSuperset(of: wanted) { expect(updated, updated.union(wanted), "updated") }
    if !updated.isSubset(of: touched) { expect(updated, updated.intersection(touched), "updated") }
    if context.hasChanges != !(context.insertedObjects + context.updatedObjects + context.deletedObjects).isEmpty,
      world.marked.isEmpty
    {
      mistakes.append("hasChanges is \(context.hasChanges)")
    }
  }

  private func expect(_ found: Set<Int>, _ wanted: Set<Int>, _ title: String) {
    if found != wanted { mistakes.append("\(title) are \(found.sorted()), not \(wanted.sorted())") }
  }

  private func checkGroups() {
    guard let undo else { return }
    if undo.groupingLevel != level { mistakes.append("level \(undo.groupingLevel), not \(level)") }
    guard !isMurky, !isDirty, level == 0 else { return }
    if undo.canUndo != (place > 0) { mistakes.append("canUndo is \(undo.canUndo)") }
    if undo.canRedo != (place + 1 < states.count) { mistakes.append("canRedo is \(undo.canRedo)") }
  }

  /// Reads plain values only, each through a different accessor.
  private func checkPlain(isThorough: Bool) throws {
    for (number, object) in objects where object.managedObjectContext === context && !object.isDeleted {
      guard let node = world.nodes[number], isThorough || !object.isFault else { continue }
      for (way, key) in ["name", "number", "code", "note"].enumerated() {
        let value = try ValueDoor.value(key, of: object, way: way + number)
        if value != node.values[key] {
          mistakes.append("#\(number).\(key) is \(value), not \(node.values[key] ?? .null)")
        }
      }
    }
  }

  // MARK: Known values

  /// Compares loaded values: objects that are no faults, and relationships that were read. Nothing is fetched, so later
  /// operations find the same faults.
  private func checkKnown() throws {
    let shown = world.visible
    let here = objects.filter { $1.managedObjectContext === context && !$1.isDeleted && !$1.isFault }
    let numbers = Dictionary(objects.map { ($1.objectID, $0) }) { max($0, $1) }
    func shownNumbers(_ ids: some Sequence<ManagedObjectID>) -> [Int] {
      ids.compactMap { id in numbers[id].flatMap { shown.nodes[$0] == nil ? nil : $0 } }
    }
    for (number, object) in here {
      guard let node = shown.nodes[number] else {
        mistakes.append("#\(number) is here")
        continue
      }
      for (key, wanted) in node.values {
        let value = try object.value(forKey: key)
        if value != wanted { mistakes.append("#\(number).\(key) is \(value), not \(wanted), without reading") }
      }
      for link in ReferenceModel.links {
        guard let slot = object.entity.slot(link.name) else { continue }
        var found: [Int]
        if link.isToMany {
          guard let known = object.relationships[slot], known.isLoaded else { continue }
          found = shownNumbers(known.members)
          if !link.isOrdered { found.sort() }
        } else {
          guard case .objectID(let id)? = object.current(slot) else { continue }
          found = shownNumbers([id])
        }
        let wanted = node.destinations(link)
        if found != wanted { mistakes.append("#\(number).\(link.name) is \(found), not \(wanted), without reading") }
      }
    }
  }

  // MARK: Reading

  /// The values that the context has.
  func observed() throws -> ReferenceWorld {
    try observed(objects.filter { $0.value.managedObjectContext === context && !$0.value.isDeleted })
  }

  private func observed(_ objects: [Int: ManagedObject]) throws -> ReferenceWorld {
    var world = ReferenceWorld()
    let numbers = Dictionary(uniqueKeysWithValues: objects.map { ($1.objectID, $0) })
    func number(_ object: ManagedObject) throws -> Int {
      guard let number = numbers[object.objectID] else {
        throw ReferenceMistake("\(object.objectID) is known to nobody")
      }
      return number
    }
    for (own, object) in objects {
      var node = ReferenceWorld.Node(isLeaf: object.entity.name == "Leaf")
      node.values = ReferenceModel.defaults
      for key in ReferenceModel.defaults.keys where !isPlain || key != "data" && key != "mood" {
        node.values[key] = try object.value(forKey: key)
      }
      for link in ReferenceModel.links where !isPlain {
        if link.isToMany {
          let list = try object.objects(forKey: link.name).filter { !$0.isDeleted }.map(number)
          if !list.isEmpty { node.lists[link.name] = link.isOrdered ? list : list.sorted() }
        } else if let other = try object.object(forKey: link.name), !other.isDeleted {
          node.ones[link.name] = try number(other)
        }
      }
      world.nodes[own] = node
    }
    return world
  }

  /// Compares the store with the committed model.
  func checkStore() throws {
    let stranger = bench.stranger()
    var found: [Int: ManagedObject] = [:]
    let numbers = Dictionary(uniqueKeysWithValues: committed.nodes.keys.map { (objects[$0]?.objectID, $0) })
    for object in try stranger.fetch(FetchRequest("Node")) {
      guard let number = numbers[object.objectID] else {
        mistakes.append("\(object.objectID) is in the store")
        continue
      }
      found[number] = object
    }
    mistakes += try observed(found).persistent.differences(from: committed).map { "in the store \($0)" }
  }

  /// Adopts the context's transient values, some of which are lost, for example after a rollback.
  func adoptTransients() throws {
    let found = try observed()
    for number in world.nodes.keys {
      guard let node = found.nodes[number] else { continue }
      world.nodes[number]?.values["mood"] = node.values["mood"]
      for link in ReferenceModel.links where link.isTransient {
        world.nodes[number]?.ones[link.name] = node.ones[link.name]
        world.nodes[number]?.lists[link.name] = node.lists[link.name]
      }
    }
  }

  /// Adopts the context's values as correct, provided that they are consistent.
  func adopt() throws {
    try context.processPendingChanges()
    world = try observed()
    mistakes += world.brokenLinks
    touched = Set(objects.keys)
    isDirty = false
  }
}
