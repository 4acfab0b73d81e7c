package import MoonbaseModel

/// The columns of a composite attribute: a column for each element that is no composite itself.
///
/// For an attribute `address` with the elements `city` and `geo.latitude`, the leaves are these two paths with columns
/// `ZCITY` and `ZLATITUDE`. A missing composite has NULL in all columns.
package struct CompositeLayout: Sendable, Hashable {
  /// An element that has a column.
  package struct Leaf: Sendable, Hashable {
    /// The names of the elements from the attribute to this one. For example `["geo", "latitude"]`.
    package var path: [String]
    /// The description of the element, with type and default.
    package var attribute: AttributeDescription
    /// Its name in the file, in upper case.
    package var column: String
    /// How values of the element are stored.
    package var kind: ColumnKind
  }

  /// The composite attribute.
  package let attribute: AttributeDescription
  /// The elements in the order of the model.
  package let leaves: [Leaf]

  /// Assigns a column to each element, in the order of the elements' paths: two forms of a model may order elements
  /// differently.
  ///
  /// `column` reserves a name for each element. Elements without a possible column are left out; `obstacle(_:)` has
  /// refused such attributes before.
  init(_ attribute: AttributeDescription, column: (AttributeDescription.Leaf) -> String) {
    let found = attribute.leaves.compactMap { leaf in ColumnKind(leaf.attribute).map { (leaf: leaf, kind: $0) } }
    var columns: [[String]: String] = [:]
    for (leaf, _) in found.sorted(by: { $0.leaf.precedes($1.leaf) }) { columns[leaf.path] = column(leaf) }
    self.attribute = attribute
    leaves = found.map { leaf, kind in
      Leaf(path: leaf.path, attribute: leaf.attribute, column: columns[leaf.path] ?? "", kind: kind)
    }
  }

  /// The reason why an attribute has no columns, as a clause. Nil where it has columns. Asked before a layout is made;
  /// the clause becomes part of an error message.
  static func obstacle(_ attribute: AttributeDescription) -> String? {
    if attribute.elements.isEmpty { return "it has no elements" }
    return attribute.unkeptElements.first.map { "its element \($0.path.joined(separator: ".")), \($0.reason)" }
  }

  /// The element at the end of a path from the attribute.
  package func leaf(at path: some Collection<String>) -> Leaf? { leaves.first { $0.path.elementsEqual(path) } }

  /// The elements whose paths begin with a path; all elements for an empty path.
  package func leaves(behind path: some Collection<String>) -> [Leaf] { leaves.filter { $0.path.starts(with: path) } }
}

/// Sorted by code points, independent of the model's form.
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
///
/// Used once per composite attribute while the layout of a file is built. `layout()` succeeds only if every element has
/// exactly one candidate that no other element wants.
struct ElementSearch {
  /// The attribute whose elements are searched.
  private let attribute: AttributeDescription
  /// The name of the declaring entity, the first part of the keys in `stated`.
  private let entity: String
  /// The columns of the table that no other property has.
  private let columns: Set<String>
  /// The columns by `Entity.attribute.element`, from the file's metadata.
  private let stated: [String: String]
  /// The number of elements that want each column.
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

  /// Returns nil where the elements are not found. The reason is in `obstacle` then.
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

  /// The stated column if it exists, else all columns with a possible name.
  private func candidates(for leaf: AttributeDescription.Leaf) -> [String] {
    let path = [entity, attribute.name] + leaf.path
    if let column = stated[path.joined(separator: ".")] { return columns.contains(column) ? [column] : [] }
    return Self.names(of: leaf, in: attribute).filter { columns.contains($0) }
  }

  /// For the element `city` of `address`: `ZADDRESS_CITY`, `ZADDRESSCITY` and `ZCITY`.
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
  /// Two composites with an element of the same name want the same column; neither may take it by a guess.
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

/// Written to the metadata of a new file, so that later versions need not guess.
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
