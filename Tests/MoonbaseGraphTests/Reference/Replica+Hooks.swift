import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Changes that hooks make.
extension Replica {
  /// The kinds of operations that run within hooks and in child contexts.
  static let plainKinds: [ReferenceOperation.Kind] = [
    .set, .relateByDoor, .assign, .order, .delete, .relate, .setByDoor,
  ]

  /// Runs a second operation within a hook that the first one calls.
  func changeInHook(_ operation: ReferenceOperation) throws {
    let (a, b, c) = (operation.a, operation.b, operation.c)
    let point = HookPlan.Point.allCases[a % HookPlan.Point.allCases.count]
    let kinds = Self.plainKinds + (point == .willSave || point == .didSave ? [.insert] : [])
    let inner = ReferenceOperation(kind: kinds[b % kinds.count], a: b / 8, b: c, c: a / 4)
    switch point {
    case .awakeFromInsert:
      guard world.nodes.count < 12 else { return }
      try expectHook(point, inner) { try insert(isLeaf: b % 2 == 0, friend: nil) }
    case .prepareForDeletion:
      guard let number = pick(c), world.wards(leftBy: world.marked.union([number])).isEmpty else { return }
      try expectHook(point, inner) { try delete(number) }
    case .willSave: try saveChanging(inner)
    case .didSave: try changeAfterSave(inner)
    }
  }

  private func expectHook(
    _ point: HookPlan.Point, _ inner: ReferenceOperation, during operation: () throws -> Void
  ) throws {
    let wasCalled = try plan.having(point) {
      try self.run(inner, in: point)
    } during: {
      try operation()
    }
    if !wasCalled { mistakes.append("\(point) was not called") }
  }

  private func run(_ inner: ReferenceOperation, in point: HookPlan.Point) throws {
    log.append("in \(point):")
    // By then the save has applied delete rules.
    if point == .willSave { settleWorld() }
    try run(inner)
    log.append("done in \(point)")
  }

  /// A save whose `willSave` makes a change, which belongs to the save's group or to the last one.
  private func saveChanging(_ inner: ReferenceOperation) throws {
    guard hasToWrite else { return }
    let (wasDirty, hasStep) = (isDirty, hasStep)
    log.append("save")
    do {
      try expectHook(.willSave, inner) { try context.save() }
    } catch let error as GraphError where isMurky && error.code == .constraintConflict {
      return try rollback()
    }
    settleWorld()
    if hasStep || undo == nil || level > 0 || isMurky {
      endGroup()
    } else if wasDirty || place == 0 || place + 1 < states.count {
      try forgetGroups()
    } else {
      (states[place], isDirty) = (world, false)
    }
    try noteSaved()
  }

  /// Whether the changes since the last group certainly make an undo step.
  private var hasStep: Bool {
    guard isDirty, !isMurky, undo != nil else { return false }
    var settled = world
    settled.settle()
    return settled != states[place]
  }

  /// Whether a save has an object to insert or update, not only deletions.
  private var hasToWrite: Bool {
    var settled = world
    settled.settle()
    return settled.nodes.contains { number, node in committed.nodes[number] != node.persistent }
  }

  /// A save whose `didSave` makes a change, which stays unsaved.
  private func changeAfterSave(_ inner: ReferenceOperation) throws {
    guard hasToSave, !isDirty || hasStep || undo == nil || isMurky || level > 0 else { return }
    log.append("save")
    do {
      let wasCalled = try plan.having(.didSave) {
        self.settleWorld()
        self.endGroup()
        (self.committed, self.touched) = (self.world.persistent, [])
        try self.run(inner, in: .didSave)
      } during: {
        try context.save()
      }
      if !wasCalled { mistakes.append("didSave was not called") }
    } catch let error as GraphError where isMurky && error.code == .constraintConflict {
      return try rollback()
    }
    mistakes += context.didSaveErrors.map { "didSave: \($0)" }
    try checkStore()
  }
}
