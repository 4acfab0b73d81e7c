package import MoonbaseModel

/// The columns of a composite attribute: a column for each element that is no composite itself.
package struct CompositeLayout: Sendable, Hashable {
  /// An element that has a column.
  package struct Leaf: Sendable, Hashable {
    /// The names of the elements from the attribute to this one.
    package var path: [String]
    package var attribute: AttributeDescription
    package var column: String
    package var kind: ColumnKind
  }

  /// The composite attribute.
  package let attribute: AttributeDescription
  /// The elements in the order of the model.
  package let leaves: [Leaf]

  /// Assigns a column to each element, in the order of the elements' paths: two forms of a model may order elements
  /// differently.
  init(_ attribute: AttributeDescription, column: (AttributeDescription.Leaf) -> String) {
    let found = attribute.leaves.compactMap { leaf in ColumnKind(leaf.attribute).map { (leaf: leaf, kind: $0) } }
    var columns: [[String]: String] = [:]
    for (leaf, _) in found.sorted(by: { $0.leaf.precedes($1.leaf) }) { columns[leaf.path] = column(leaf) }
    self.attribute = attribute
    leaves = found.map { leaf, kind in
      Leaf(path: leaf.path, attribute: leaf.attribute, column: columns[leaf.path] ?? "", kind: kind)
    }
  }

  /// The reason why an attribute has no columns, as a clause. Nil where it has columns.
  static func obstacle(_ attribute: AttributeDescription) -> String? {
    if attribute.elements.isEmpty { return "it has no elements" }
    return attribute.unkeptElements.first.map { "its element \($0.path.joined(separator: ".")), \($0.reason)" }
  }

  /// The element at the end of a path from the attribute.
  package func leaf(at path: some Collection<String>) -> Leaf? { leaves.first { $0.path.elementsEqual(path) } }

  /// The elements whose paths begin with a path; all elements for an empty path.
  package func leaves(behind path: some Collection<String>) -> [Leaf] { leaves.filter { $0.path.starts(with: path) } }
}

extension AttributeDescription.Leaf {
  fileprivate func precedes(_ other: Self) -> Bool {
    path.lexicographicallyPrecedes(other.path) { $0.literallyPrecedes($1) }
  }
}

/// Finds the columns of a composite's elements in a file.
///
/// No known store shows Core Data's columns for them. Stores of Moonbase name the columns in their metadata. In other
/// stores an element is found where a single column has a possible name: the element's own name, or that name after the
/// attribute's.
struct ElementSearch {
  private let attribute: AttributeDescription
  private let entity: String
  private let columns: Set<String>
  private let stated: [String: String]
  private let wanters: [String: Int]
  /// The reason why the elements are not found, as a clause.
  private(set) var obstacle = ""

  /// `taken` are the columns of other properties. `wanters` counts the elements of the table that each column may
  /// belong to.
  init(
    _ attribute: AttributeDescription, entity: String, columns: [String], taken: Set<String>, stated: [String: String],
    wanters: [String: Int]
  ) {
    (self.attribute, self.entity, self.stated, self.wanters) = (attribute, entity, stated, wanters)
    self.columns = Set(columns).subtracting(taken)
  }

  /// Returns nil where the elements are not found.
  mutating func layout() -> CompositeLayout? {
    if let reason = CompositeLayout.obstacle(attribute) {
      obstacle = reason
      return nil
    }
    var found: [[String]: String] = [:]
    for leaf in attribute.leaves {
      let candidates = candidates(for: leaf)
      guard candidates.count == 1 else {
        obstacle =
          "\(leaf.path.joined(separator: ".")) has "
          + (candidates.isEmpty
            ? "no column" : "\(candidates.count) that may be its: \(candidates.joined(separator: ", "))")
        return nil
      }
      guard wanters[candidates[0]] ?? 1 == 1 else {
        obstacle = "\(candidates[0]) may be the column of \(leaf.path.joined(separator: ".")) and of another element"
        return nil
      }
      found[leaf.path] = candidates[0]
    }
    return CompositeLayout(attribute) { found[$0.path] ?? "" }
  }

  private func candidates(for leaf: AttributeDescription.Leaf) -> [String] {
    let path = [entity, attribute.name] + leaf.path
    if let column = stated[path.joined(separator: ".")] { return columns.contains(column) ? [column] : [] }
    return Self.names(of: leaf, in: attribute).filter { columns.contains($0) }
  }

  private static func names(of leaf: AttributeDescription.Leaf, in attribute: AttributeDescription) -> [String] {
    let names = ([attribute.name] + leaf.path).map { $0.uppercased() }
    var wanted: [String] = []
    for start in names.indices {
      for separator in ["_", ""] {
        let name = "Z" + names[start...].joined(separator: separator)
        if !wanted.contains(name) { wanted.append(name) }
      }
    }
    return wanted
  }

  /// The number of elements that each column of a table may belong to, without elements whose columns the file names.
  static func wanters(in entities: [ResolvedEntity], stated: [String: String]) -> [String: Int] {
    var result: [String: Int] = [:]
    for entity in entities {
      for property in entity.properties where property.declaringEntity == entity.index && !property.isTransient {
        guard let attribute = property.attribute, attribute.type == .composite else { continue }
        for leaf in attribute.leaves
        where stated[([entity.name, attribute.name] + leaf.path).joined(separator: ".")] == nil {
          for name in names(of: leaf, in: attribute) { result[name, default: 0] += 1 }
        }
      }
    }
    return result
  }
}

extension StoreLayout {
  /// The columns of elements, by `Entity.attribute.element`.
  package var elementColumns: [String: String] {
    var result: [String: String] = [:]
    for case let entity? in entities {
      for property in entity.entity.properties where property.declaringEntity == entity.entity.index {
        guard case .composite(let composite) = entity.slots[property.slot] else { continue }
        for leaf in composite.leaves {
          result[([entity.entity.name, property.name] + leaf.path).joined(separator: ".")] = leaf.column
        }
      }
    }
    return result
  }
}
