package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// A change of one attribute that a store makes in one statement, and that leaves what setting it in each object and saving would leave.
///
/// That holds where nobody looks at the objects: no hook, rule, normalizer or derived attribute, and no rule of the model but those that values of
/// attributes alone may break, which are asked of each row. As soon as one is broken, or the function fails, nothing is changed, and it is the graph
/// that has to say of which object: that is rare, and takes no longer than it would have taken anyway.
package struct UnwatchedUpdate {
  /// How many rows matched, and how many of them have another value now.
  package struct Outcome {
    package let matched: Int
    package let changed: Int
  }

  /// What a function gives for a row does not fit, or the row breaks a rule already.
  private struct Misfit: Error {}

  private let context: ManagedObjectContext
  private let entity: ResolvedEntity
  private let property: ResolvedProperty
  private let inputs: [String]
  private let predicate: Predicate?
  /// Attributes of which the model says more than their type.
  private let ruled: [ResolvedProperty]

  /// Nil where somebody looks. `key` is to be what a function makes of `inputs`, of all that matches the predicate.
  package init?(
    _ key: String, of inputs: [String], in entity: ResolvedEntity, where predicate: Predicate?,
    _ context: ManagedObjectContext
  ) throws {
    let isDerivedFrom = context.model.entities.contains { entity in
      entity.properties.contains { $0.attribute?.derivationExpression != nil }
    }
    guard !isDerivedFrom, let property = entity.property(key) else { return nil }
    let named = ([key] + inputs).map(entity.property)
    guard named.allSatisfy({ $0?.attribute != nil && $0?.isTransient == false }) else { return nil }
    var slots: Set<Slot> = []
    for index in entity.indexes(includingSubentities: true) where !context.model.entities[index].isAbstract {
      let behavior = try context.behavior(of: context.model.entities[index])
      guard behavior.isUnwatched, named.allSatisfy({ behavior.isStoredAsIs($0?.slot ?? 0) }) else { return nil }
      slots.formUnion(behavior.slotsToValidate)
    }
    // A request names neither what subentities add nor relationships.
    guard slots.allSatisfy({ $0 < entity.properties.count && entity.properties[$0].attribute != nil }) else {
      return nil
    }
    ruled = slots.sorted().map { entity.properties[$0] }
    (self.context, self.entity, self.property) = (context, entity, property)
    (self.inputs, self.predicate) = (inputs, predicate)
  }

  /// Changes the rows, all or none. Nil, and nothing done, where the graph has to do it. Throws what ends a run, and what a store throws.
  package func run(_ body: @escaping BatchUpdateFunction.Body) throws -> Outcome? {
    try context.beginBatch("update")
    var isMisfit = false
    var request = BatchUpdateRequest(entity.name, where: predicate)
    let count = inputs.count
    // Only what the function sets is known by its new value.
    let others = ruled.filter { $0.slot != property.slot }
    let isRuled = others.count < ruled.count
    let function = BatchUpdateFunction(
      of: inputs + others.map(\.name),
      ofScript: { cells, take in
        do {
          for (cell, other) in zip(cells[count...], others) { try Self.check(cell, other) }
          try body(UnsafeBufferPointer(rebasing: cells[..<count])) { cell in
            guard isRuled, let attribute = property.attribute else { return try take(cell) }
            let value = try attribute.checked(cell.asValue)
            let fitting = value.isNull ? Snapshot.Cell.null : .value(value)
            try Self.check(fitting, property)
            try take(fitting)
          }
        } catch {
          isMisfit = true
          throw error
        }
      })
    request.functionsToUpdate[property.name] = function
    request.resultType = .count
    do {
      let update = try BatchUpdate(request, of: entity, in: context.model)
      guard let done = try update.executed(by: context), let written = done.written else { return nil }
      return Outcome(matched: done.count, changed: written)
    } catch {
      let endsRun = (error as? any ScriptFailure)?.endsRun == true || (error as? any CodedError)?.code.endsRun == true
      guard isMisfit, !endsRun else { throw error }
      return nil
    }
  }

  private static func check(_ cell: Snapshot.Cell, _ property: ResolvedProperty) throws {
    if case .null = cell {
      guard property.isOptional else { throw Misfit() }
    } else if property.attribute?.validation.isEmpty == false {
      guard try property.validate(cell.asValue).isEmpty else { throw Misfit() }
    }
  }
}

extension EntityBehavior {
  /// Whether nobody but the model sees an object that is read, changed and saved.
  fileprivate var isUnwatched: Bool {
    !hasWillSave && !hasDidSave && !hasObjectRules && !hasAwakeFromFetch && !hasFaultHooks && rules.isEmpty
      && normalizers.isEmpty && accessors.isEmpty && storedSlots.isEmpty && derivedSlotsToValidate.isEmpty
      && !hooks.contains(.validateValue)
  }
}
