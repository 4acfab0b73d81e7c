extension AttributeDescription {
  /// What at the ends of a composite holds a value: an element that is no composite itself.
  package struct Leaf: Sendable {
    /// The names of the elements that lead to it.
    package var path: [String]
    package var attribute: AttributeDescription

    package init(path: [String], attribute: AttributeDescription) {
      (self.path, self.attribute) = (path, attribute)
    }
  }

  /// The elements of a composite that are none themselves, as they stand in each other; none for another attribute.
  package var leaves: [Leaf] {
    elements.flatMap { element -> [Leaf] in
      guard element.type == .composite else { return [Leaf(path: [element.name], attribute: element)] }
      return element.leaves.map { Leaf(path: [element.name] + $0.path, attribute: $0.attribute) }
    }
  }

  /// What stands at the end of a path through the elements of a composite; the attribute itself for an empty one.
  package func element(at path: some Sequence<String>) -> AttributeDescription? {
    var found: AttributeDescription? = self
    for name in path { found = found?.elements.first { $0.name == name } }
    return found
  }

  /// The elements that no column of a store can hold, each with the reason as a clause.
  package var unkeptElements: [(path: [String], reason: String)] {
    guard type == .composite else { return [] }
    return leaves.compactMap { leaf in leaf.attribute.reasonAgainstColumn.map { (leaf.path, $0) } }
      + emptyComposites.map { ($0, "which is a composite without elements") }
  }

  private var emptyComposites: [[String]] {
    elements.filter { $0.type == .composite }.flatMap { element in
      element.elements.isEmpty ? [[element.name]] : element.emptyComposites.map { [element.name] + $0 }
    }
  }

  /// Why an element has no column of its own.
  private var reasonAgainstColumn: String? {
    switch type {
    case .transformable: return "which is transformable: no transformer is asked for an element"
    case .undefined, .objectID: return "which is \(type.phrase): no column of a store holds one"
    default: break
    }
    if allowsExternalBinaryDataStorage { return "which allows external storage: an element lies in its column" }
    if derivationExpression != nil { return "which is derived: no element is" }
    return isTransient ? "which is transient: an element is kept with its attribute" : nil
  }

  /// The value of a composite of what its leaves have, given in their order; null where none has a value.
  @inlinable
  package func assembled<Failure: Error>(_ next: () throws(Failure) -> Value) throws(Failure) -> Value {
    var map: [String: Value] = [:]
    for element in elements {
      let value = element.type == .composite ? try element.assembled(next) : try next()
      if !value.isNull { map[element.name] = value }
    }
    return map.isEmpty ? .null : .map(map)
  }
}

extension Value {
  /// What a composite's value has at the end of a path through its elements.
  package func element(at path: some Sequence<String>) -> Value {
    var value = self
    for name in path {
      guard case .map(let map) = value else { return .null }
      value = map[name] ?? .null
    }
    return value
  }
}
