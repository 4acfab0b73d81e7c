package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// An update of attributes that a store executes in one statement, with the same result as setting and saving each
/// object.
///
/// This requires entities without hooks, normalizers and stored derived attributes. Rules, including those of the
/// model, must depend only on the value of an attribute; they are checked for each row. If a rule or function fails,
/// nothing changes, and the graph repeats the update to report the object: this is rare, and takes no longer than an
/// update without the attempt.
package struct HookFreeUpdate {
  /// The number of rows that matched, and of those that changed.
  package struct Outcome {
    /// The number of rows that matched.
    package let matched: Int
    /// The number of rows whose values changed.
    package let changed: Int
  }

  /// An attribute and the arguments of the function that computes its value.
  package struct Assignment {
    fileprivate let property: ResolvedProperty
    fileprivate let own: RuledAttribute?
    /// Attributes with rules that no function sets. Their values follow the inputs in the arguments.
    fileprivate let others: [RuledAttribute]
    private let inputCount: Int

    fileprivate init(
      _ property: ResolvedProperty, own: RuledAttribute?, others: [RuledAttribute], inputCount: Int
    ) {
      (self.property, self.own, self.others, self.inputCount) = (property, own, others, inputCount)
    }

    /// The number of arguments: the inputs, and further attributes with rules.
    package var argumentCount: Int { inputCount + others.count }

    /// The rules of extensions, each with the index of the argument that it checks; nil for the result.
    package var rules: [(place: Int?, rule: EntityExtension.ValueRule)] {
      others.enumerated().flatMap { index, other in other.rules.map { (inputCount + index, $0) } }
        + (own?.rules ?? []).map { (nil, $0) }
    }

    fileprivate var ruled: [RuledAttribute] { others + (own.map { [$0] } ?? []) }
  }

  /// The function of an assignment.
  ///
  /// With `asksRules`, its plain form checks the rules of extensions itself, and returns no plain value if a rule
  /// fails.
  package struct Function {
    /// The function.
    package let body: BatchUpdateFunction.Body
    /// The faster form; nil if there is none.
    package let plain: BatchUpdateFunction.Plain?
    /// Whether the faster form checks the rules of extensions.
    package let asksRules: Bool

    /// Makes the function of an assignment.
    package init(_ body: @escaping BatchUpdateFunction.Body, plain: BatchUpdateFunction.Plain?, asksRules: Bool) {
      (self.body, self.plain, self.asksRules) = (body, plain, asksRules)
    }
  }

  private let context: ManagedObjectContext
  private let entity: ResolvedEntity
  private let inputs: [String]
  private let predicate: Predicate?
  /// The attributes to set, in the order of the given keys.
  package let assignments: [Assignment]

  /// Returns nil if hooks or other rules are involved. Functions of `inputs` compute `keys` for all objects that match
  /// the predicate.
  package init?(
    _ keys: [String], of inputs: [String], in entity: ResolvedEntity, where predicate: Predicate?,
    _ context: ManagedObjectContext
  ) throws {
    let isDerivedFrom = context.model.entities.contains { entity in
      entity.properties.contains(where: \.isDerived)
    }
    let set = keys.compactMap(entity.property)
    guard !isDerivedFrom, set.count == keys.count else { return nil }
    let named = (keys + inputs).map(entity.property)
    guard named.allSatisfy({ $0?.attribute != nil && $0?.isTransient == false }) else { return nil }
    var slots: Set<Slot> = []
    var behaviors: [EntityBehavior] = []
    for index in entity.indexes(includingSubentities: true) where !context.model.entities[index].isAbstract {
      let behavior = try context.behavior(of: context.model.entities[index])
      guard behavior.hasNoHooks, named.allSatisfy({ behavior.isStoredAsIs($0?.slot ?? 0) }) else { return nil }
      slots.formUnion(behavior.slotsToValidate)
      behaviors.append(behavior)
    }
    // With several entities, the rules for a row are unknown.
    guard behaviors.count == 1 || behaviors.allSatisfy(\.valueRules.isEmpty) else { return nil }
    // Unset transient values are not validated.
    slots = slots.filter { $0 >= entity.properties.count || !entity.properties[$0].isTransient }
    // A batch request supports neither attributes that subentities add nor relationships.
    guard slots.allSatisfy({ $0 < entity.properties.count && entity.properties[$0].attribute != nil }) else {
      return nil
    }
    let ruled = slots.sorted().map { RuledAttribute(entity.properties[$0], rules: behaviors[0].valueRules[$0] ?? []) }
    let others = ruled.filter { other in !set.contains { $0.slot == other.property.slot } }
    assignments = set.enumerated().map { index, property in
      // The first function checks these attributes for all assignments.
      Assignment(
        property, own: ruled.first { $0.property.slot == property.slot }, others: index == 0 ? others : [],
        inputCount: inputs.count)
    }
    (self.context, self.entity) = (context, entity)
    (self.inputs, self.predicate) = (inputs, predicate)
  }

  /// Updates the rows, all or none. Returns nil, without a change, if the graph has to execute the update. Throws
  /// errors that end the run, and the errors of a store.
  package func run(_ functions: [Function]) throws -> Outcome? {
    try context.beginBatch("update")
    let misfit = Misfit()
    var request = BatchUpdateRequest(entity.name, where: predicate)
    for (assignment, function) in zip(assignments, functions) {
      request.functionsToUpdate[assignment.property.name] = checking(function, of: assignment, misfit)
    }
    request.resultType = .count
    do {
      let update = try BatchUpdate(request, of: entity, in: context.model)
      guard let done = try update.executed(by: context), let written = done.written else { return nil }
      return Outcome(matched: done.count, changed: written)
    } catch {
      let endsRun = (error as? any ScriptFailure)?.endsRun == true || (error as? any CodedError)?.code.endsRun == true
      guard misfit.isThere, !endsRun else { throw error }
      return nil
    }
  }

  /// Records whether a function failed, or a value breaks a rule.
  private final class Misfit {
    var isThere = false
  }

  /// The function of an assignment, with checks of the rules and of the attribute's type.
  private func checking(
    _ function: Function, of assignment: Assignment, _ misfit: Misfit
  ) -> BatchUpdateFunction {
    let (count, others, own) = (inputs.count, assignment.others, assignment.own)
    let (asksRules, body) = (function.asksRules, function.body)
    var plain = function.plain
    if assignment.ruled.contains(where: { $0.isRuledByModel || !asksRules && !$0.rules.isEmpty }) {
      plain?.check = { cells, result in
        do {
          for (index, other) in others.enumerated() { try other.check(cells[count + index], asksRules: !asksRules) }
          try own?.check(result, asksRules: !asksRules)
          return true
        } catch {
          return false
        }
      }
    }
    return BatchUpdateFunction(
      of: inputs + others.map(\.property.name),
      ofScript: { cells, take in
        do {
          for (index, other) in others.enumerated() { try other.check(cells[count + index]) }
          guard let own else { return try body(UnsafeBufferPointer(rebasing: cells[..<count]), take) }
          try body(UnsafeBufferPointer(rebasing: cells[..<count])) { cell in
            let fitting = try own.fitting(cell)
            try own.check(fitting)
            try take(fitting)
          }
        } catch {
          misfit.isThere = true
          throw error
        }
      },
      plain: plain)
  }
}

/// An attribute with rules of the model or of extensions beyond its type.
private struct RuledAttribute {
  /// The error for a value that breaks a rule.
  struct Misfit: Error {}

  let property: ResolvedProperty
  let rules: [EntityExtension.ValueRule]
  /// Whether the model restricts the attribute's values, or requires one.
  let isRuledByModel: Bool
  private let attribute: AttributeDescription?
  private let isLimited: Bool

  init(_ property: ResolvedProperty, rules: [EntityExtension.ValueRule]) {
    self.property = property
    self.rules = rules
    attribute = property.attribute
    isLimited = property.hasValueRules
    isRuledByModel = isLimited || !property.isOptional
  }

  /// The stored form of a value.
  func fitting(_ cell: Snapshot.Cell) throws -> Snapshot.Cell { try attribute?.checked(cell) ?? cell }

  /// Throws the errors of rules, and `Misfit` for a value that breaks a rule.
  func check(_ cell: Snapshot.Cell, asksRules: Bool = true) throws {
    if case .null = cell {
      guard property.isOptional else { throw Misfit() }
      return
    }
    if isLimited { guard try property.validate(cell.asValue).isEmpty else { throw Misfit() } }
    if asksRules { for rule in rules { guard try rule.holds(cell) else { throw Misfit() } } }
  }
}

extension EntityBehavior {
  /// Whether no hooks run when objects are read, changed and saved, apart from rules for single values.
  fileprivate var hasNoHooks: Bool {
    !hasWillSave && !hasDidSave && !hasObjectRules && !hasAwakeFromFetch && !hasFaultHooks && normalizers.isEmpty
      && accessors.isEmpty && storedSlots.isEmpty && derivedSlotsToValidate.isEmpty
      && !hooks.contains(.validateValue) && rules.allSatisfy { valueRules[$0.key]?.count == $0.value.count }
  }
}
