import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// A context and its naive model.
final class Replica {
  let bench: StoreBench
  let store: FailingStore
  /// The behaviour of hooks: 1 insertions fail, 2 saves make random changes, 3 deletions fail, 4 saves make random
  /// changes and fail.
  let mode = Switch()
  /// A change that a hook makes once.
  let plan = HookPlan()
  var context: ManagedObjectContext
  /// Nil for every fourth seed.
  var undo: UndoManager?
  /// All objects ever made, by number.
  var objects: [Int: ManagedObject] = [:]

  /// The expected values of the context and of the store.
  var world = ReferenceWorld()
  var committed = ReferenceWorld()
  /// The relationships that are set at random.
  var freeLinks = ReferenceModel.freeLinks
  /// Objects that may count as changed.
  var touched: Set<Int> = []

  /// The state after each undo group, and the index of the current state.
  var states: [ReferenceWorld] = []
  var place = 0
  /// Whether there are changes since the last group.
  var isDirty = false
  /// Whether groups reach back beyond another context's save or a refresh: the states they restore are read, not
  /// predicted.
  var isMurky = false
  var level = 0

  var log: [String] = []
  var mistakes: [String] = []
  private var valueCount = 0
  private var lastNumber = 0
  private let seed: Int
  /// Whether objects have only plain values, in rows of their own. Assignments then take the fast path, which a
  /// transformed or transient value, a loaded list or an observer would rule out.
  let isPlain: Bool

  init(_ kind: StoreKind, seed: Int, isPlain: Bool = false) throws {
    (bench, store) = try StoreBench.failing(kind, ReferenceModel.model())
    bench.coordinator.register(ReferenceNode.self, forClassName: "ReferenceNode")
    (self.seed, self.isPlain) = (seed, isPlain)
    context = bench.context()
    context = newContext()
    for index in 0..<5 { try insert(isLeaf: index == 4, friend: index == 0 || isPlain ? nil : index) }
    if !isPlain { try relateFirst() }
    try save()
    log = []
    if seed % 4 != 3 { try beginUndo() }
    // Every other sequence begins with faults.
    if seed % 2 == 1 { try reopen() }
  }

  private func relateFirst() throws {
    world.set(1, ReferenceModel.link("parent"), to: 2)
    try objects[1]?.setObject(objects[2], forKey: "parent")
    world.setList(3, ReferenceModel.link("books"), to: [1, 4, 2])
    try objects[3]?.setObjects([1, 4, 2].compactMap { objects[$0] }, forKey: "books")
  }

  private func newContext() -> ManagedObjectContext {
    let (mode, plan) = (mode, plan)
    var entry = EntityExtension()
    entry.awakeFromInsert = { object in
      try plan.run(.awakeFromInsert)
      guard mode.value == 1 else { return }
      mode.value = 0
      try Replica.meddle(object)
      throw Broken()
    }
    entry.prepareForDeletion = { _ in
      try plan.run(.prepareForDeletion)
      if mode.value == 3 { throw Broken() }
    }
    entry.didSave = { _ in try plan.run(.didSave) }
    entry.willSave = { object in
      try plan.run(.willSave)
      guard mode.value == 2 || mode.value == 4, !object.isDeleted else { return }
      let isFailing = mode.value == 4
      mode.value = 0
      try Replica.meddle(object)
      if isFailing { throw Broken() }
    }
    return bench.context(["Node": [entry]])
  }

  func beginUndo() throws {
    let new = UndoManager()
    new.levelsOfUndo = seed % 3 == 0 ? 3 : 0
    context.undoManager = new
    undo = new
    forgetStates()
  }

  /// Continues with a new context in which all objects are faults.
  func reopen() throws {
    guard !context.hasChanges, world.marked.isEmpty, world.persistent == committed else { return }
    log.append("reopen")
    let new = newContext()
    objects = try objects.filter { committed.nodes[$0.key] != nil }.mapValues { try new.object(with: $0.objectID) }
    context = new
    (world, touched, level) = (committed, [], 0)
    for number in world.nodes.keys { world.nodes[number]?.values["mood"] = .null }
    if undo != nil { try beginUndo() }
  }

  /// A hook that makes random changes.
  private static func meddle(_ object: ManagedObject) throws {
    guard let context = object.managedObjectContext else { return }
    let nodes = try context.fetch(FetchRequest("Node")).filter { $0 !== object }
    if let first = nodes.first {
      try object.add(first, to: "friends")
      try object.setObject(first, forKey: "spouse")
      try first.setPrimitiveValue(99, forKey: "number")
      try first.setValue("by a hook", forKey: "name")
      try first.setValue("by a hook", forKey: "mood")
      try first.add(object, to: "books")
      try first.setObjects(first.objects(forKey: "books").reversed(), forKey: "books")
    }
    if let last = nodes.last, last !== nodes.first { try context.delete(last) }
    try context.processPendingChanges()
    try context.insert("Leaf", values: ["friends": .list([.objectID(object.objectID)])])
  }

  /// Changes a value without telling the model.
  func changeUnseen() throws {
    guard let number = pick(0) else { return }
    log.append("and #\(number).name is another one")
    try object(number).setValue("unseen", forKey: "name")
  }

  // MARK: Choosing

  func pick(_ number: Int) -> Int? {
    let live = world.live
    return live.isEmpty ? nil : live[number % live.count]
  }

  func pick(_ number: Int, where isFit: (Int) -> Bool) -> Int? {
    let fit = world.live.filter(isFit)
    return fit.isEmpty ? nil : fit[number % fit.count]
  }

  func object(_ number: Int) throws -> ManagedObject {
    guard let object = objects[number] else { throw ReferenceMistake("#\(number) is nowhere") }
    return object
  }

  /// An unused number.
  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// An unused value.
  func freshValue(_ key: String) -> Value {
    valueCount += 1
    switch key {
    case "number": return .int(Int64(valueCount))
    case "data": return ["v": .int(Int64(valueCount)), "list": ["a", .double(0.5)]]
    default: return .string("v\(valueCount)")
    }
  }

  // MARK: The model follows

  /// Changes the model; every object that differs afterwards may count as changed.
  func change(_ body: (inout ReferenceWorld) -> Void) {
    let before = world
    body(&world)
    isDirty = true
    touch(from: before)
  }

  func touch(from before: ReferenceWorld) {
    for number in Set(before.nodes.keys).union(world.nodes.keys) where before.nodes[number] != world.nodes[number] {
      touched.insert(number)
    }
  }

  func settleWorld() {
    let before = world
    world.settle()
    if before != world { isDirty = true }
    touch(from: before)
  }

  func forgetStates() {
    (states, place, isDirty, isMurky) = ([world.visible], 0, false, false)
  }

  /// Ends the current group, if there is one.
  func endGroup() {
    guard undo != nil else { return isDirty = false }
    // Within an explicitly begun group, the changes still belong to that group.
    guard level == 0 else { return }
    defer { isDirty = false }
    guard isDirty, !isMurky else { return }
    guard world != states[place] else {
      // Only the manager knows whether an empty group exists; pending delete rules would make one.
      try? context.processPendingChanges()
      undo?.removeAllActions()
      return forgetStates()
    }
    states.removeSubrange((place + 1)...)
    states.append(world)
    place += 1
    if let levels = undo?.levelsOfUndo, levels > 0, place > levels {
      states.removeFirst()
      place -= 1
    }
  }

  /// Marks the states restored by undo groups as unpredictable.
  func becomeMurky() {
    guard let undo else { return }
    if undo.canUndo || undo.canRedo || level > 0 { isMurky = true } else { forgetStates() }
  }
}

/// An inconsistency after which a sequence cannot continue.
struct ReferenceMistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
