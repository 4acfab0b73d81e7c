/// An attribute that stores derive from saved values by a derivation expression of Core Data.
///
/// The source of the value is the object itself, or the object at the end of a path of to-one relationships.
package struct StoredDerivation: Sendable {
  /// The form of the derived value.
  package enum Result: Sendable {
    /// The time of the save that wrote the object.
    case now
    /// An attribute's value, or a text function of it.
    case value(Slot, PredicateFunction?)
    /// A function over the destinations of a to-many relationship, or over an attribute of the destinations.
    case collection(Slot, of: Slot?, PredicateFunction)
  }

  /// The derived attribute's slot in the requested entity and its subentities.
  package let slot: Slot
  /// The whole expression, for stores with a query language.
  package let expression: Expression
  /// The to-one relationships of the path, each in the destination of the previous relationship.
  package let path: [Slot]
  /// The entities along the path. The first has the derived attribute, the last provides the result.
  package let entities: [EntityIndex]
  /// The form of the derived value.
  package let result: Result

  /// The most rounds of derivation. Attributes derived from derived values are recomputed in the next round; circular
  /// derivations may not settle before the limit.
  package static let greatestRounds = 1000
}

extension ResolvedModel {
  /// The attributes of an entity that stores derive, including inherited ones. Derivations that no store supports are
  /// left out; the model's checks warn of them.
  ///
  /// For example, `items.@count` and `uppercase:(name)`. The result is in the order of slots.
  package func storedDerivations(of entity: ResolvedEntity) -> [StoredDerivation] {
    entity.attributeSlots.compactMap { slot in
      let property = entity.properties[slot]
      return property.isDerived && !property.isTransient ? storedDerivation(of: slot, in: entity) : nil
    }
  }

  /// The derivation of an attribute; nil for an expression that no store supports.
  private func storedDerivation(of slot: Slot, in entity: ResolvedEntity) -> StoredDerivation? {
    guard case .attribute(let attribute) = entity.properties[slot].kind,
      let expression = attribute.derivationExpression.flatMap(DerivationText.expression)
    else { return nil }
    switch expression {
    case .function("now", []):
      guard attribute.type == .date else { return nil }
      return StoredDerivation(slot: slot, expression: expression, path: [], entities: [entity.index], result: .now)
    case .keyPath(.evaluatedObject, let keys):
      return derivation(of: slot, attribute, in: entity, as: expression, along: keys, by: nil)
    case .function(let name, let arguments):
      guard case .keyPath(.evaluatedObject, let keys)? = arguments.first else { return nil }
      return PredicateFunction(rawValue: name).flatMap {
        derivation(of: slot, attribute, in: entity, as: expression, along: keys, by: $0)
      }
    default: return nil
    }
  }

  /// The derivation along a path of keys; nil if the path or the types do not fit.
  private func derivation(
    of slot: Slot, _ derived: AttributeDescription, in entity: ResolvedEntity, as expression: Expression,
    along keys: [String], by function: PredicateFunction?
  ) -> StoredDerivation? {
    var (path, entities, rest) = ([Slot](), [entity.index], keys[...])
    func made(_ result: StoredDerivation.Result) -> StoredDerivation {
      StoredDerivation(slot: slot, expression: expression, path: path, entities: entities, result: result)
    }
    while let key = rest.popFirst() {
      let place = self.entities[entities[entities.count - 1]]
      guard let property = place.property(key), !property.isTransient else { return nil }
      switch property.kind {
      case .attribute(let source):
        let isItself = path.isEmpty && property.slot == slot
        guard rest.isEmpty, !isItself, derived.canHold(source, by: function) else { return nil }
        return made(.value(property.slot, function))
      case .toOne(let relationship):
        path.append(property.slot)
        entities.append(relationship.destination)
      case .toMany(let relationship):
        guard let function else { return nil }
        let slot = rest.first.flatMap { self.entities[relationship.destination].slot($0) }
        if rest.isEmpty {
          return function == .count && derived.type.isNumeric
            ? made(.collection(property.slot, of: nil, function)) : nil
        }
        guard rest.count == 1, let slot,
          case .attribute(let source) = self.entities[relationship.destination].properties[slot].kind,
          derived.canHold(source, reducedBy: function)
        else { return nil }
        return made(.collection(property.slot, of: slot, function))
      }
    }
    return nil
  }
}

extension AttributeDescription {
  /// Whether the attribute can hold values of another attribute, or a text function of them.
  fileprivate func canHold(_ source: AttributeDescription, by function: PredicateFunction?) -> Bool {
    guard isPlain, source.isPlain else { return false }
    return switch function {
    case nil: type.range >= source.type.range && type.family == source.type.family
    case .uppercase, .lowercase, .canonical: type == .string && source.type == .string
    default: false
    }
  }

  /// Whether the attribute can hold the result of a collection function over another attribute.
  fileprivate func canHold(_ source: AttributeDescription, reducedBy function: PredicateFunction) -> Bool {
    guard isPlain, source.isPlain else { return false }
    return switch function {
    case .count: type.isNumeric
    case .sum: type.family == source.type.family && source.type.isNumeric
    case .average: source.type.isNumeric && type.family == (source.type == .decimal ? .decimal : .double)
    case .min, .max: type.family == source.type.family && (source.type.isNumeric || [.string, .date].contains(type))
    default: false
    }
  }

  /// Whether the row stores the attribute's values directly.
  private var isPlain: Bool {
    switch type {
    case .undefined, .transformable, .composite, .objectID: false
    default: !isTransient && !allowsExternalBinaryDataStorage
    }
  }
}

extension AttributeType {
  /// The widest type with the same representation.
  fileprivate var family: AttributeType {
    switch self {
    case .integer16, .integer32: .integer64
    case .float: .double
    default: self
    }
  }

  /// The rank of the type's range within its family.
  fileprivate var range: Int {
    switch self {
    case .integer16: 0
    case .integer32, .float: 1
    default: 2
    }
  }
}
