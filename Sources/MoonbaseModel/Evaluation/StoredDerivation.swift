/// An attribute that stores derive from saved values, by one of Core Data's derivation expressions.
///
/// From an object a path of to-one relationships leads to the one of which the value is made; mostly it is the object itself.
package struct StoredDerivation: Sendable {
  /// What the attribute gets.
  package enum Result: Sendable {
    /// The time of the save that wrote the object.
    case now
    /// An attribute's value, or what a function of text makes of it.
    case value(Slot, PredicateFunction?)
    /// What a function makes of the destinations of a to-many relationship, or of an attribute of theirs.
    case collection(Slot, of: Slot?, PredicateFunction)
  }

  /// The attribute, in the entity that was asked and its subentities.
  package let slot: Slot
  /// The whole of it, for stores that have a language of their own.
  package let expression: Expression
  /// The to-one relationships of the path, each in the destination of the one before.
  package let path: [Slot]
  /// The entities along the path: the first derives, and of the last one the result is.
  package let entities: [EntityIndex]
  package let result: Result

  /// What is derived from derived values is derived anew in the next round; in a circle it comes to rest, or stays as this many rounds left it.
  package static let greatestRounds = 1000
}

extension ResolvedModel {
  /// The attributes of an entity that stores derive, inherited ones too. What a derivation names that no store can follow is left out:
  /// the model's checks warn of it.
  package func storedDerivations(of entity: ResolvedEntity) -> [StoredDerivation] {
    entity.attributeSlots.compactMap { slot in
      let property = entity.properties[slot]
      return property.isDerived && !property.isTransient ? storedDerivation(of: slot, in: entity) : nil
    }
  }

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
  /// Whether values of another attribute, or what a function of text makes of them, can be this one's.
  fileprivate func canHold(_ source: AttributeDescription, by function: PredicateFunction?) -> Bool {
    guard isPlain, source.isPlain else { return false }
    return switch function {
    case nil: type.range >= source.type.range && type.family == source.type.family
    case .uppercase, .lowercase, .canonical: type == .string && source.type == .string
    default: false
    }
  }

  /// Whether what a function makes of many values of another attribute can be this one's.
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

  /// Whether a value of it lies in its row as it is.
  private var isPlain: Bool {
    switch type {
    case .undefined, .transformable, .composite, .objectID: false
    default: !isTransient && !allowsExternalBinaryDataStorage
    }
  }
}

extension AttributeType {
  /// The widest type whose values are written as those of this one are.
  fileprivate var family: AttributeType {
    switch self {
    case .integer16, .integer32: .integer64
    case .float: .double
    default: self
    }
  }

  /// How much of its family it holds.
  fileprivate var range: Int {
    switch self {
    case .integer16: 0
    case .integer32, .float: 1
    default: 2
    }
  }
}
