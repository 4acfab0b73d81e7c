import MoonbasePlatform

extension ValueNode {
  /// The constant; nil for other expressions.
  var constant: Value? {
    if case .constant(let value) = self { value } else { nil }
  }

  /// Whether it is a list of expressions or a constant.
  var isLiteralList: Bool {
    switch self {
    case .constant, .aggregate: true
    default: false
    }
  }

  /// The value, with objects as their IDs.
  ///
  /// Throws the errors of the subject, and `.evaluation` for functions that do not apply.
  @inlinable
  func value<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Value where Subject.Related == Subject {
    switch self {
    case .constant(let value): return value
    case .slot(let slot): return try subject.predicateValue(slot: slot)
    case .key(let key): return try subject.predicateAnswer(forKey: key).value
    case .arithmetic(let function, let left, let right):
      try Self.charge()
      return try function.arithmetic(
        try left.value(subject, bindings: &bindings), try right.value(subject, bindings: &bindings))
    case .call(let function, let arguments):
      try Self.charge()
      let result = try function.evaluate(try arguments.map { try $0.value(subject, bindings: &bindings) })
      if result.isText { try result.requireRoom() }
      return result
    case .aggregate(let elements): return try Self.list(elements, subject, bindings: &bindings)
    case .shared(let part): return try part.value(subject, bindings: &bindings)
    case .subject, .path, .variable, .element, .subquery, .conditional, .assignment:
      return try operand(subject, bindings: &bindings).value
    }
  }

  /// Charges the cost of an operator or a function.
  @usableFromInline
  static func charge() throws { try HostWork.charge() }

  /// The values of a list's elements. The memory of the list is charged.
  @usableFromInline
  static func list<Subject: SlottedSubject>(
    _ elements: [ValueNode], _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Value where Subject.Related == Subject {
    var memory = HostMemory()
    return .list(
      try elements.map { element in
        let value = try element.value(subject, bindings: &bindings)
        try memory.hold(value.elementWeight)
        return value
      })
  }

  /// The result of the expression: a value or objects.
  ///
  /// Objects remain objects, so that a path can continue from them.
  @usableFromInline
  func operand<Subject: SlottedSubject>(
    _ subject: Subject, bindings: inout Bindings<Subject>
  ) throws -> Operand<Subject> where Subject.Related == Subject {
    switch self {
    case .subject: return .object(subject)
    case .key(let key): return Operand(try subject.predicateAnswer(forKey: key))
    case .path(let base, let steps):
      var operand = try base.operand(subject, bindings: &bindings)
      for step in steps { operand = try step.follow(operand) }
      return operand
    case .variable(let index): return bindings[index]
    case .element(let collection, let index):
      let operand = try collection.operand(subject, bindings: &bindings)
      return try element(of: operand, node: index, at: index.value(subject, bindings: &bindings))
    case .subquery(let collection, let variable, let condition):
      return try select(
        from: try collection.operand(subject, bindings: &bindings), variable: variable, where: condition,
        subject: subject, bindings: &bindings)
    case .conditional(let condition, let then, let otherwise):
      try HostWork.charge()
      let truth = try condition.truth(subject, bindings: &bindings)
      return try (truth == .yes ? then : otherwise).operand(subject, bindings: &bindings)
    case .assignment(let index, let value):
      bindings[index] = try value.operand(subject, bindings: &bindings)
      return bindings[index]
    case .constant, .slot, .arithmetic, .call, .aggregate, .shared:
      return .value(try value(subject, bindings: &bindings))
    }
  }

  /// An element of a collection or a map; null if there is none.
  private func element<Subject>(
    of operand: Operand<Subject>, node: ValueNode, at index: Value
  ) throws -> Operand<Subject> {
    if case .objects(let objects) = operand {
      if case .call(.size, _) = node { return .value(.int(Int64(objects.count))) }
      let position = position(node, in: index, count: objects.count)
      return .object(position.flatMap { objects.indices.contains($0) ? objects[$0] : nil })
    }
    if let elements = operand.elements {
      if case .call(.size, _) = node { return .value(.int(Int64(elements.count))) }
      let position = position(node, in: index, count: elements.count)
      return .value(position.flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null)
    }
    return .value(try PredicateFunction.element.evaluate([operand.value, index]))
  }

  /// The index that a position means; nil for other keys.
  private func position(_ node: ValueNode, in value: Value, count: Int) -> Int? {
    switch (node, value) {
    case (.call(.first, _), _): 0
    case (.call(.last, _), _): count - 1
    case (_, .int(let index)): Int(index)
    default: nil
    }
  }

  /// The elements of a collection that satisfy a subquery's condition.
  private func select<Subject: SlottedSubject>(
    from collection: Operand<Subject>, variable: Int, where condition: ConditionNode, subject: Subject,
    bindings: inout Bindings<Subject>
  ) throws -> Operand<Subject> where Subject.Related == Subject {
    let outer = bindings[variable]
    defer { bindings[variable] = outer }
    switch collection {
    case .objects(let objects):
      var found: [Subject?] = []
      var memory = HostMemory()
      for case let object? in objects {
        try HostWork.charge()
        bindings[variable] = .object(object)
        guard try condition.truth(subject, bindings: &bindings) == .yes else { continue }
        try memory.hold(Value.referenceWeight)
        found.append(object)
      }
      return .objects(found)
    case .value(.list(let elements)):
      var found: [Value] = []
      var memory = HostMemory()
      for element in elements {
        try HostWork.charge()
        bindings[variable] = .value(element)
        guard try condition.truth(subject, bindings: &bindings) == .yes else { continue }
        try memory.hold(element.elementWeight)
        found.append(element)
      }
      return .value(.list(found))
    default:
      guard collection.value.isNull else { throw ModelError(.evaluation, message: "SUBQUERY needs a collection") }
      return .value(.list([]))
    }
  }
}

extension PathStep {
  /// Follows the step from a result of the path so far. Throws the errors of the subject.
  func follow<Subject: SlottedSubject>(_ operand: Operand<Subject>) throws -> Operand<Subject>
  where Subject.Related == Subject {
    if case .aggregate(let aggregate) = self { return try aggregate.apply(to: operand) }
    switch operand {
    case .object(let object): return try follow(object)
    case .value(let value):
      guard case .key(let key) = self else { return operand }
      if case .list(let elements) = value { try HostWork.charge(elements.count) }
      return .value(try value.value(forPredicateKey: key))
    case .objects(let objects): return try follow(objects)
    }
  }

  /// Follows the step from a single object. A missing object gives a missing result.
  private func follow<Subject: SlottedSubject>(_ object: Subject?) throws -> Operand<Subject>
  where Subject.Related == Subject {
    guard let object else {
      if case .toMany = self { return .objects([]) }
      if case .toOne = self { return .object(nil) }
      return .value(.null)
    }
    switch self {
    case .attribute(let slot): return .value(try object.predicateValue(slot: slot))
    case .toOne(let slot):
      try HostWork.charge()
      return .object(try object.predicateDestination(slot: slot))
    case .toMany(let slot): return .objects(try object.predicateDestinations(slot: slot))
    case .key(let key): return Operand(try object.predicateAnswer(forKey: key))
    case .identity: return .value(object.predicateValue)
    case .aggregate: return .value(.null)
    }
  }

  /// Follows the step from several objects. Nested collections become one.
  private func follow<Subject: SlottedSubject>(_ objects: [Subject?]) throws -> Operand<Subject>
  where Subject.Related == Subject {
    var values: [Value] = []
    var reached: [Subject?] = []
    var hasObjects = false
    var memory = HostMemory()
    try HostWork.charge(objects.count)
    for object in objects {
      switch try follow(object) {
      case .value(.list(let more)):
        for value in more { try memory.hold(value.elementWeight) }
        values += more
      case .value(let value):
        try memory.hold(value.elementWeight)
        values.append(value)
      case .object(let next):
        hasObjects = true
        try memory.hold(Value.referenceWeight)
        reached.append(next)
      case .objects(let more):
        hasObjects = true
        try memory.hold(more.count &* Value.referenceWeight)
        reached += more
      }
    }
    if case .toOne = self { return .objects(reached) }
    if case .toMany = self { return .objects(reached) }
    return hasObjects ? .objects(reached) : .value(.list(values))
  }
}

extension CollectionOperator {
  /// Applies the operator to a collection. Null is an empty collection.
  fileprivate func apply<Subject>(to operand: Operand<Subject>) throws -> Operand<Subject> {
    if case .objects(let objects) = operand {
      if self == .count { return .value(.int(Int64(objects.count { $0 != nil }))) }
      if self == .union { return operand }
    }
    if case .objects(let objects) = operand { try HostMemory.require(objects.count &* MemoryLayout<Value>.stride) }
    // Null counts as an empty collection, because a path may end at a missing object.
    guard let elements = operand.elements ?? (operand.value.isNull ? [] : nil) else {
      throw ModelError(
        .evaluation, message: "\(rawValue) needs a collection, not a value of type \(operand.value.typeDescription)")
    }
    try HostWork.charge(elements.count)
    // Only these operators build a list of all elements.
    if self == .union || self == .distinctUnion { try HostMemory.require(elements.count &* Self.elementWeight) }
    return .value(try reduce(elements))
  }

  /// The estimated bytes of an element in a list and in a set.
  private static let elementWeight = 80

  /// The value of the operator over the elements.
  private func reduce(_ elements: [Value]) throws(ModelError) -> Value {
    switch self {
    case .count: return try PredicateFunction.count.evaluate([.list(elements)])
    case .sum: return try PredicateFunction.sum.evaluate([.list(elements)])
    case .average: return try PredicateFunction.average.evaluate([.list(elements)])
    case .minimum: return try PredicateFunction.min.evaluate([.list(elements)])
    case .maximum: return try PredicateFunction.max.evaluate([.list(elements)])
    case .union: return .list(elements.filter { !$0.isNull })
    case .distinctUnion:
      for element in elements { try element.checkComparable() }
      var seen: Set<Value> = []
      return .list(elements.filter { !$0.isNull && seen.insert($0).inserted })
    }
  }
}

extension Value {
  /// The estimated bytes of an object in a growing list.
  fileprivate static let referenceWeight = 16
  /// The estimated bytes of a value in a growing list.
  fileprivate var elementWeight: Int { 32 &+ weight }

  /// Whether it is a text.
  @inlinable
  var isText: Bool { if case .string = self { true } else { false } }

  /// Throws if a script lacks memory for another copy of the value: a function of a text holds its argument and its
  /// result.
  @usableFromInline
  func requireRoom() throws { try HostMemory.require(weight) }
}
