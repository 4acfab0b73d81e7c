import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Saves of child contexts.
extension Replica {
  /// Makes changes in a child context, which is then saved, fails to save, or is discarded.
  func saveChild(_ operation: ReferenceOperation) throws {
    guard level == 0 else { return }
    try endEvent()
    let (a, b, c) = (operation.a, operation.b, operation.c)
    let child = ManagedObjectContext(parent: context)
    for round in 0...(b % 2) {
      log.append("in a child:")
      let own = try objectsOf(child)
      let (parent, before) = (View(self), world)
      show(child, own)
      for step in 0...(a + round) % 4 {
        let (a, b, c) = (a / (step + 2) + round, b / (step + 3), c / (step + 1) + round)
        let kinds = Self.plainKinds + [.insert]
        let kind = kinds[(a + b + c) % kinds.count]
        try run(ReferenceOperation(kind: kind, a: a, b: kind == .set ? b % 3 : b, c: c))
        try check(isThorough: (a + b) % 3 == 0)
      }
      // An object updated in the child may count as updated here without a difference: an unread list records each
      // addition.
      let touchedThere = touched
      let isSaved = try endChild(c)
      let (result, changed, theirs) = (world, touched.union(touchedThere), objects)
      parent.show(in: self)
      log.append(isSaved ? "done in the child" : "the child is given up")
      guard isSaved else { return }
      try take(result, over: before, theirs)
      touched.formUnion(changed)
      endGroup()
    }
  }

  /// The child's objects for the objects of this context.
  private func objectsOf(_ child: ManagedObjectContext) throws -> [Int: ManagedObject] {
    var own: [Int: ManagedObject] = [:]
    for number in world.nodes.keys { own[number] = try child.object(with: object(number).objectID) }
    return own
  }

  /// The state of the sequence that is replaced while a child is in use.
  private struct View {
    let context: ManagedObjectContext
    let undo: UndoManager?
    let objects: [Int: ManagedObject]
    let world, committed: ReferenceWorld
    let touched: Set<Int>
    let isDirty: Bool

    init(_ replica: Replica) {
      (context, undo, objects) = (replica.context, replica.undo, replica.objects)
      (world, committed) = (replica.world, replica.committed)
      (touched, isDirty) = (replica.touched, replica.isDirty)
    }

    func show(in replica: Replica) {
      (replica.context, replica.undo, replica.objects) = (context, undo, objects)
      (replica.world, replica.committed) = (world, committed)
      (replica.touched, replica.isDirty) = (touched, isDirty)
      replica.freeLinks = ReferenceModel.freeLinks
    }
  }

  private func show(_ child: ManagedObjectContext, _ own: [Int: ManagedObject]) {
    (context, undo, objects) = (child, nil, own)
    committed = world.persistent
    world = committed
    for number in world.nodes.keys { world.nodes[number]?.values["mood"] = .null }
    // A child has no transient values and saves none.
    freeLinks = freeLinks.filter { !$0.isTransient }
    (touched, isDirty) = ([], false)
  }

  /// Saves the child or discards it; returns whether the child was saved.
  private func endChild(_ c: Int) throws -> Bool {
    switch c % 8 {
    case 0: return false
    case 1:
      mode.value = 4
      return try failChild { _ in true }
    case 2:
      store.fail(afterReads: c / 8 % 4)
      return try failChild { ($0 as? GraphError)?.code == .storeFailure }
    default:
      try saveShownChild()
      return true
    }
  }

  private func saveShownChild() throws {
    log.append("save")
    try context.save()
    settleWorld()
    committed = world.persistent
    touched = []
    if context.hasChanges { mistakes.append("a child has changes after its save") }
    try check(isThorough: true)
  }

  /// Attempts a save that is to fail. A failed save leaves the child unchanged; a save that does not need the failing
  /// part succeeds.
  private func failChild(_ isExpected: (any Error) -> Bool) throws -> Bool {
    log.append("save, which may fail")
    let result = Result { try context.save() }
    mode.value = 0
    store.fail(afterReads: nil)
    switch result {
    case .success:
      // There was nothing to save or to read.
      settleWorld()
      committed = world.persistent
      touched = []
      try check(isThorough: true)
      return true
    case .failure(let error):
      if !isExpected(error) { throw error }
      log.append("which fails")
      try check(isThorough: true)
      return false
    }
  }

  /// Applies the child's saved changes to its parent.
  private func take(_ result: ReferenceWorld, over before: ReferenceWorld, _ theirs: [Int: ManagedObject]) throws {
    change { world in
      world.remove(Set(before.nodes.keys).subtracting(result.nodes.keys))
      for (number, node) in result.nodes {
        var new = node
        new.takeTransients(of: world.nodes[number])
        new.values["mood"] = new.values["mood"] ?? .null
        world.nodes[number] = new
      }
    }
    for (number, object) in theirs where objects[number] == nil {
      guard world.nodes[number] != nil else { continue }
      guard let mine = context.registeredObject(for: object.objectID) else {
        throw ReferenceMistake("#\(number), which is new in a child, is not in its parent")
      }
      objects[number] = mine
    }
  }

  /// A child and its parent change the same object; the child's save fails, and the child is discarded.
  func conflictWithChild(_ a: Int, _ b: Int) throws {
    guard level == 0 else { return }
    try endEvent()
    guard let number = pick(a) else { return }
    let child = ManagedObjectContext(parent: context)
    let theirs = try child.object(with: object(number).objectID)
    log.append("in a child #\(number).name is another one")
    try theirs.setValue("of a child", forKey: "name")
    try set(number, ["name", "number", "data"][b % 3])
    do {
      try child.save()
    } catch let error as GraphError where error.code == .mergeConflict {
      if try theirs.value(forKey: "name") != "of a child" { mistakes.append("a child lost its change") }
      return log.append("it fails to save that")
    }
    throw ReferenceMistake("no conflict with a child")
  }
}
