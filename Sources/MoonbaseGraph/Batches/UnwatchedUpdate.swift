package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// A change of one attribute that a store makes in one statement, and that leaves what setting it in each object and saving would leave.
///
/// That holds where nobody looks at the objects: no hook, normalizer or stored derived attribute, and no rules, those of the model among them, but
/// such as look at the value of an attribute and nothing else, which are asked of each row. As soon as one is broken, or the function fails, nothing is changed, and it is the graph
/// that has to say of which object: that is rare, and takes no longer than it would have taken anyway.
package struct UnwatchedUpdate {
  /// How many rows matched, and how many of them have another value now.
  package struct Outcome {
    package let matched: Int
    package let changed: Int
  }

  private let context: ManagedObjectContext
  private let entity: ResolvedEntity
  private let property: ResolvedProperty
  private let inputs: [String]
  private let predicate: Predicate?
  /// Attributes of which something is said that a value may break.
  private let ruled: [RuledAttribute]

  /// Nil where somebody looks. `key` is to be what a function makes of `inputs`, of all that matches the predicate.
  package init?(
    _ key: String, of inputs: [String], in entity: ResolvedEntity, where predicate: Predicate?,
    _ context: ManagedObjectContext
  ) throws {
    let isDerivedFrom = context.model.entities.contains { entity in
      entity.properties.contains(where: \.isDerived)
    }
    guard !isDerivedFrom, let property = entity.property(key) else { return nil }
    let named = ([key] + inputs).map(entity.property)
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
    ruled = slots.sorted().map { RuledAttribute(entity.properties[$0], rules: behaviors[0].valueRules[$0] ?? []) }
    (self.context, self.entity, self.property) = (context, entity, property)
    (self.inputs, self.predicate) = (inputs, predicate)
  }

  /// What is only known by its value in the row, and stands behind the inputs.
  private var others: [RuledAttribute] { ruled.filter { $0.property.slot != property.slot } }
  private var own: RuledAttribute? { ruled.first { $0.property.slot == property.slot } }

  /// How many arguments the function gets: its inputs, and what rules look at besides.
  package var argumentCount: Int { inputs.count + others.count }

  /// The rules of extensions, with the place of the argument that each looks at; nil for the result.
  package var rules: [(place: Int?, rule: EntityExtension.ValueRule)] {
    others.enumerated().flatMap { index, other in other.rules.map { (inputs.count + index, $0) } }
      + (own?.rules ?? []).map { (nil, $0) }
  }

  /// Changes the rows, all or none. Nil, and nothing done, where the graph has to do it. Throws what ends a run, and what a store throws.
  ///
  /// With `asksRules` the plain form of the function asks the rules of extensions itself, and gives no plain value where one does not hold.
  package func run(
    _ body: @escaping BatchUpdateFunction.Body, plain: BatchUpdateFunction.Plain?, asksRules: Bool = false
  ) throws -> Outcome? {
    try context.beginBatch("update")
    var isMisfit = false
    var request = BatchUpdateRequest(entity.name, where: predicate)
    let count = inputs.count
    let (others, own) = (others, own)
    var plain = plain
    if ruled.contains(where: { $0.isRuledByModel || !asksRules && !$0.rules.isEmpty }) {
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
    let function = BatchUpdateFunction(
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
          isMisfit = true
          throw error
        }
      },
      plain: plain)
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
