import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseScripting

/// Non-standard attributes behave the same in Swift, in Lua, and in combinations. The attributes are a transformable, a
/// value class, and a structure and a scalar over a shadow, each with both read and both write policies.
///
/// Source: Core Data Programming Guide, Non-Standard Persistent Attributes.
@Suite struct NonStandardAttributeTests {
  private struct Trial {
    let bench: ShapeBench
    let policy: AttributePolicy
    let attribute: ShapeAttribute
    var isLate: Bool { policy.write == .delayed && attribute.shadow != nil }

    /// The value of the shadow.
    func shadow(_ shape: ManagedObject) throws -> String? {
      guard let shadow = attribute.shadow else { return nil }
      return try shape.value(forKey: shadow).string ?? "nil"
    }
  }

  /// Runs a test with each policy for each of the attributes.
  private func each(
    _ kind: StoreKind, _ way: AttributeWay, _ attributes: [ShapeAttribute] = ShapeAttribute.allCases,
    _ body: (Trial) throws -> Void
  ) throws {
    // The first and the last policy differ in both respects.
    for policy in TestLength.sampled(AttributePolicy.all, every: 3) {
      let bench = try ShapeBench(kind, way, policy)
      for attribute in attributes {
        let trial = Trial(bench: bench, policy: policy, attribute: attribute)
        do { try body(trial) } catch { Issue.record("\(way) \(attribute) \(policy): \(error)") }
      }
    }
  }

  /// Runs a test with a shape saved with the attribute's first value.
  private func eachSaved(
    _ kind: StoreKind, _ way: AttributeWay, _ attributes: [ShapeAttribute] = ShapeAttribute.allCases,
    _ body: (Trial, ManagedObject) throws -> Void
  ) throws {
    try each(kind, way, attributes) { trial in
      let shape = try trial.bench.insert([trial.attribute: 1])
      try trial.bench.context.save()
      try body(trial, shape)
    }
  }

  /// Runs a test with an empty undo manager.
  private func eachWithUndo(
    _ kind: StoreKind, _ way: AttributeWay, _ body: (Trial, ManagedObject) throws -> Void
  ) throws {
    try eachSaved(kind, way) { trial, shape in
      trial.bench.context.undoManager = UndoManager()
      try body(trial, shape)
    }
  }

  private func expect(
    _ trial: Trial, _ shape: ManagedObject, _ number: Int?, _ comment: String = "",
    location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let expected = number.map(trial.attribute.text) ?? "nil"
    let found = try trial.bench.read(trial.attribute, of: shape)
    #expect(
      found == expected, "\(trial.bench.way) \(trial.attribute) \(trial.policy) \(comment)", sourceLocation: location)
  }

  /// Saves, and checks the value in a context that shares only the store.
  private func expectSaved(
    _ trial: Trial, _ shape: ManagedObject, _ number: Int?, location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    try trial.bench.context.save()
    let found = try trial.bench.elsewhere(trial.attribute, of: shape)
    #expect(found == number.map(trial.attribute.text) ?? "nil", sourceLocation: location)
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func whatIsSetIsReadAndSaved(_ kind: StoreKind, _ way: AttributeWay) throws {
    try each(kind, way) { trial in
      let shape = try trial.bench.insert([trial.attribute: 1])
      try expect(trial, shape, 1, "before the save")
      #expect(
        try trial.shadow(shape) == (trial.attribute.shadow.map { _ in trial.isLate ? "nil" : trial.attribute.text(1) }))
      try trial.bench.context.save()
      try expect(trial, shape, 1, "after the save")
      if trial.attribute.shadow != nil { #expect(try trial.shadow(shape) == trial.attribute.text(1)) }
      #expect(try trial.bench.elsewhere(trial.attribute, of: shape) == trial.attribute.text(1))
      #expect(!trial.bench.context.hasChanges)
      try trial.bench.set(trial.attribute, of: shape, 2)
      #expect(shape.hasChanges)
      try expectSaved(trial, shape, 2)
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func noValueIsSavedToo(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachSaved(kind, way) { trial, shape in
      try trial.bench.set(trial.attribute, of: shape, nil)
      try expect(trial, shape, nil)
      try expectSaved(trial, shape, nil)
    }
  }

  /// A read is no change, and a change of the shadow makes a new value.
  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func theValueFollowsItsShadow(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachSaved(kind, way, ShapeAttribute.pairs) { trial, shape in
      try trial.bench.context.refresh(shape, mergeChanges: false)
      try expect(trial, shape, 1)
      #expect(!trial.bench.context.hasChanges)
      try trial.bench.set(try #require(trial.attribute.shadow), of: shape, to: .string(trial.attribute.text(5)))
      try expect(trial, shape, 5)
      try expectSaved(trial, shape, 5)
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func aRollbackGivesBothUp(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachSaved(kind, way) { trial, shape in
      try trial.bench.set(trial.attribute, of: shape, 2)
      try trial.bench.context.rollback()
      try expect(trial, shape, 1)
      #expect(!trial.bench.context.hasChanges)
      if trial.attribute.shadow != nil { #expect(try trial.shadow(shape) == trial.attribute.text(1)) }
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func refreshingKeepsWhatIsPendingWhereChangesAreMerged(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachSaved(kind, way) { trial, shape in
      try trial.bench.set(trial.attribute, of: shape, 2)
      try trial.bench.context.refresh(shape, mergeChanges: true)
      try expect(trial, shape, 2, "merged")
      try trial.bench.context.refresh(shape, mergeChanges: false)
      try expect(trial, shape, 1, "discarded")
      try expectSaved(trial, shape, 1)
    }
  }

  // MARK: Undo

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func stepsAreUndoneAndRedone(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachWithUndo(kind, way) { trial, shape in
      for number in 2...3 {
        try trial.bench.set(trial.attribute, of: shape, number)
        try trial.bench.context.processPendingChanges()
        try trial.bench.context.undoManager?.endStep()
      }
      try trial.bench.undo()
      try expect(trial, shape, 2, "after one undo")
      try trial.bench.undo()
      try expect(trial, shape, 1, "after two")
      try trial.bench.redo()
      try expect(trial, shape, 2, "after a redo")
      try expectSaved(trial, shape, 2)
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func aSavedStepIsUndoneAndSavedAgain(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachWithUndo(kind, way) { trial, shape in
      try trial.bench.set(trial.attribute, of: shape, 2)
      try trial.bench.context.save()
      try trial.bench.undo()
      try expect(trial, shape, 1, "undone after the save")
      try expectSaved(trial, shape, 1)
      try expect(trial, shape, 1, "saved again")
    }
  }

  /// Undoing a deletion also restores unsaved values.
  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func anUndoneDeletionHasItsValues(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachWithUndo(kind, way) { trial, shape in
      try trial.bench.set(trial.attribute, of: shape, 2)
      try trial.bench.context.undoManager?.endStep()
      try trial.bench.context.delete(shape)
      try trial.bench.context.processPendingChanges()
      try trial.bench.undo()
      try expect(trial, shape, 2)
      try expectSaved(trial, shape, 2)
    }
  }

  // MARK: Refusals and children

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func aValueOfAnotherClassIsRefused(_ kind: StoreKind, _ way: AttributeWay) throws {
    try each(kind, way, [.color, .paint]) { trial in
      let shape = try trial.bench.insert([trial.attribute: 1])
      let error = #expect(throws: (any Error).self) {
        try trial.bench.set(trial.attribute.rawValue, of: shape, to: ["x": 1])
      }
      #expect("\(error.map { "\($0)" } ?? "")".contains("class Color"), "\(way) \(String(describing: error))")
      try expect(trial, shape, 1)
      try trial.bench.context.save()
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func theShadowOfAPendingValueCannotBeSet(_ kind: StoreKind, _ way: AttributeWay) throws {
    try each(kind, way, ShapeAttribute.pairs) { trial in
      guard trial.isLate else { return }
      let shape = try trial.bench.insert([trial.attribute: 1])
      try trial.bench.context.save()
      try trial.bench.set(trial.attribute, of: shape, 2)
      #expect(throws: (any Error).self) {
        try trial.bench.set(#require(trial.attribute.shadow), of: shape, to: .string(trial.attribute.text(3)))
      }
      try expect(trial, shape, 2)
      try expectSaved(trial, shape, 2)
    }
  }

  @Test(arguments: StoreKind.allCases, AttributeWay.allCases)
  func aChildSavesIntoItsParent(_ kind: StoreKind, _ way: AttributeWay) throws {
    try eachSaved(kind, way) { trial, shape in
      let child = trial.bench.child()
      let same = try child.object(with: shape.objectID)
      try expect(trial, same, 1, "in the child")
      try trial.bench.set(trial.attribute, of: same, 2)
      try expect(trial, shape, 1, "in the parent before")
      try child.save()
      try expect(trial, shape, 2, "in the parent after")
      try expectSaved(trial, shape, 2)
      try child.close()
    }
  }
}
