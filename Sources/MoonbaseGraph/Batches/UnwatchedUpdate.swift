package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// A change of attributes that a store makes in one statement, and that leaves what setting them in each object and
/// saving would leave.
///
/// That holds where nobody looks at the objects: no hook, normalizer or stored derived attribute, and no rules, those
/// of the model among them, but such as look at the value of an attribute and nothing else, which are asked of each
/// row. As soon as one is broken, or a function fails, nothing is changed, and it is the graph that has to say of
/// which object: that is rare, and takes no longer than it would have taken anyway.
package struct UnwatchedUpdate {
  /// How many rows matched, and how many of them have another value now.
  package struct Outcome {
    package let matched: Int
    package let changed: Int
  }

  /// An attribute that is set to the result of a function of the inputs.
  package struct Assignment {
    fileprivate let property: ResolvedProperty
    fileprivate let own: RuledAttribute?
    /// Attributes that no function sets and of which something is said. Their values stand behind the inputs.
    fileprivate let others: [RuledAttribute]
    private let inputCount: Int

    fileprivate init(
      _ property: ResolvedProperty, own: RuledAttribute?, others: [RuledAttribute], inputCount: Int
    ) {
      (self.property, self.own, self.others, self.inputCount) = (property, own, others, inputCount)
    }

    /// How many arguments the function gets: its inputs, and what rules look at besides.
    package var argumentCount: Int { inputCount + others.count }

    /// The rules of extensions, with the place of the argument that each looks at; nil for the result.
    package var rules: [(place: Int?, rule: EntityExtension.ValueRule)] {
      others.enumerated().flatMap { index, other in other.rules.map { (inputCount + index, $0) } }
        + (own?.rules ?? []).map { (nil, $0) }
    }

    fileprivate var ruled: [RuledAttribute] { others + (own.map { [$0] } ?? []) }
  }

  /// The function of an assignment.
  ///
  /// With `asksRules` its plain form asks the rules of extensions itself, and gives no plain value where one does not
  /// hold.
  package struct Function {
    package let body: BatchUpdateFunction.Body
    package let plain: BatchUpdateFunction.Plain?
    package let asksRules: Bool

    package init(_ body: @escaping BatchUpdateFunction.Body, plain: BatchUpdateFunction.Plain?, asksRules: Bool) {
      (self.body, self.plain, self.asksRules) = (body, plain, asksRules)
    }
  }

  private let context: ManagedObjectContext
  private let entity: ResolvedEntity
  private let inputs: [String]
  private let predicate: Predicate?
  /// The attributes that are set, in the order of their keys.
  package let assignments: [Assignment]

  /// Nil where somebody looks. `keys` are to be what functions make of `inputs`, of all that matches the predicate.
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
      guard behavior.isUnwatched, named.allSatisfy({ behavior.isStoredAsIs($0?.slot ?? 0) }) else { return nil }
      slots.formUnion(behavior.slotsToValidate)
      behaviors.append(behavior)
    }
    // Of a row it is not known which rules of several entities are its own.
    guard behaviors.count == 1 || behaviors.allSatisfy(\.valueRules.isEmpty) else { return nil }
    // Transient values that nobody has set are not asked for.
    slots = slots.filter { $0 >= entity.properties.count || !entity.properties[$0].isTransient }
    // A request names neither what subentities add nor relationships.
    guard slots.allSatisfy({ $0 < entity.properties.count && entity.properties[$0].attribute != nil }) else {
      return nil
    }
    let ruled = slots.sorted().map { RuledAttribute(entity.properties[$0], rules: behaviors[0].valueRules[$0] ?? []) }
    let others = ruled.filter { other in !set.contains { $0.slot == other.property.slot } }
    assignments = set.enumerated().map { index, property in
      // The first function looks at them for all.
      Assignment(
        property, own: ruled.first { $0.property.slot == property.slot }, others: index == 0 ? others : [],
        inputCount: inputs.count)
    }
    (self.context, self.entity) = (context, entity)
    (self.inputs, self.predicate) = (inputs, predicate)
  }

  /// Changes the rows, all or none. Nil, and nothing done, where the graph has to do it. Throws what ends a run, and
  /// what a store throws.
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

  /// Whether a function failed, or a value breaks a rule.
  private final class Misfit {
    var isThere = false
  }

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

/// An attribute of which the model or a rule says more than its type.
private struct RuledAttribute {
  /// A value breaks what is said.
  struct Misfit: Error {}

  let property: ResolvedProperty
  let rules: [EntityExtension.ValueRule]
  /// Whether the model says something of its values, or that there must be one.
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

  /// What the attribute holds of a value.
  func fitting(_ cell: Snapshot.Cell) throws -> Snapshot.Cell { try attribute?.checked(cell) ?? cell }

  /// Throws what a rule throws, and `Misfit` for a value that breaks one.
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
  /// Whether nobody sees an object that is read, changed and saved, but rules that look at single values.
  fileprivate var isUnwatched: Bool {
    !hasWillSave && !hasDidSave && !hasObjectRules && !hasAwakeFromFetch && !hasFaultHooks && normalizers.isEmpty
      && accessors.isEmpty && storedSlots.isEmpty && derivedSlotsToValidate.isEmpty
      && !hooks.contains(.validateValue) && rules.allSatisfy { valueRules[$0.key]?.count == $0.value.count }
  }
}
