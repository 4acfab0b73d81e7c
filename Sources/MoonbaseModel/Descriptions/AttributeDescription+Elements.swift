extension AttributeDescription {
  /// A leaf of a composite: an element that is not a composite itself.
  package struct Leaf: Sendable {
    /// The names of the elements from the composite down to the leaf.
    package var path: [String]
    /// The attribute of the leaf.
    package var attribute: AttributeDescription

    /// A leaf at a path.
    package init(path: [String], attribute: AttributeDescription) {
      (self.path, self.attribute) = (path, attribute)
    }
  }

  /// The leaves of a composite in depth-first order; empty for other attributes.
  package var leaves: [Leaf] {
    elements.flatMap { element -> [Leaf] in
      guard element.type == .composite else { return [Leaf(path: [element.name], attribute: element)] }
      return element.leaves.map { Leaf(path: [element.name] + $0.path, attribute: $0.attribute) }
    }
  }

  /// The element at the end of a path through nested composites; the attribute itself for an empty path.
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

  /// The paths of the composites without elements.
  private var emptyComposites: [[String]] {
    elements.filter { $0.type == .composite }.flatMap { element in
      element.elements.isEmpty ? [[element.name]] : element.emptyComposites.map { [element.name] + $0 }
    }
  }

  /// The reason why an element has no column.
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

  /// The value of a composite, made of the values of its leaves in depth-first order; null if no leaf has a value.
  ///
  /// `next` is called once for each leaf. The stores use it to build composites from columns.
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
  /// The value at the end of a path through nested composite values.
  ///
  /// Returns `null` where a part of the path is missing.
  package func element(at path: some Sequence<String>) -> Value {
    var value = self
    for name in path {
      guard case .map(let map) = value else { return .null }
      value = map[name] ?? .null
    }
    return value
  }
}
