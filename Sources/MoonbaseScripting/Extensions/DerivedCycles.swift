import MoonbaseModel

/// Finds derived attributes that depend on themselves.
///
/// A cycle through attributes of the same object is always a mistake. A cycle through relationships may be intended, as
/// for the path of a folder in a tree: whether it ends depends on the data, and the graph limits it at run time. A pure
/// attribute is computed within a query, which cannot recurse at all.
///
/// Reads the declarations only; no function runs. The search follows the `inputs` and `shadow` of each derived
/// attribute. Attributes without `inputs` have unknown dependencies and are not followed.
struct DerivedCycles {
  /// The declarations of all extensions of a generation.
  let declarations: [ExtensionDeclaration]
  let model: ResolvedModel

  /// A derived attribute.
  private struct Node: Hashable {
    let entity: String
    let name: String
  }

  /// A derived attribute's declaration, and the file of it.
  private struct Entry {
    let derived: ExtensionDeclaration.Derived
    let declaration: ExtensionDeclaration
  }

  /// Adds a mistake for the first cycle, in the order of names: `Person.a is derived from itself: Person.a -> Person.b
  /// -> Person.a`.
  func check(_ mistakes: ExtensionMistakes) {
    var entries: [Node: Entry] = [:]
    for declaration in declarations {
      for entity in declaration.entities {
        for derived in entity.derived {
          entries[Node(entity: entity.name, name: derived.name)] = Entry(derived: derived, declaration: declaration)
        }
      }
    }
    for node in entries.keys.sorted(by: { ($0.entity, $0.name) < ($1.entity, $1.name) }) {
      guard let entry = entries[node], let way = way(from: node, through: entries) else { continue }
      let names = way.map { "\($0.entity).\($0.name)" }.joined(separator: " -> ")
      mistakes.add(
        ScriptError(
          .invalidExtension, message: "\(node.entity).\(node.name) is derived from itself: \(names)",
          at: entry.declaration.source.location(of: ["entities", node.entity, "derived", node.name, "inputs"]),
          entity: node.entity, property: node.name))
      // Further attributes of the same cycle would give the same message.
      return
    }
  }

  /// The cycle from a node back to itself; nil if there is none.
  ///
  /// A depth-first search from `start`. Relationships are crossed only if `start` is pure.
  private func way(from start: Node, through entries: [Node: Entry]) -> [Node]? {
    let crosses = entries[start]?.derived.isPure == true
    var seen: Set<Node> = []
    var ways: [[Node]] = [[start]]
    while let way = ways.popLast(), let last = way.last {
      for next in needs(of: last, among: entries, crossingRelationships: crosses) {
        if next == start { return way + [next] }
        if seen.insert(next).inserted { ways.append(way + [next]) }
      }
    }
    return nil
  }

  /// The derived attributes that an attribute depends on. For each input, the first property on its path that is not a
  /// relationship.
  private func needs(of node: Node, among entries: [Node: Entry], crossingRelationships: Bool) -> [Node] {
    guard let derived = entries[node]?.derived, let entity = model.entity(node.entity) else { return [] }
    let paths = derived.shadow.map { [$0] } ?? derived.inputs ?? []
    return paths.flatMap { path -> [Node] in
      var place = entity
      for key in path.split(separator: ".") where !key.hasPrefix("@") {
        guard let property = place.property(String(key)) else { return [] }
        guard let relationship = property.relationship else {
          return owners(of: property.name, in: place, among: entries)
        }
        guard crossingRelationships else { return [] }
        place = model.destination(of: relationship)
      }
      return []
    }
  }

  /// The entities that derive an attribute of an object: the entity, its nearest ancestor that derives it, or a
  /// subentity.
  private func owners(of name: String, in entity: ResolvedEntity, among entries: [Node: Entry]) -> [Node] {
    let lineage = sequence(first: entity) { $0.parent.map { model.entities[$0] } }
    let nearest = lineage.map { Node(entity: $0.name, name: name) }.first { entries[$0] != nil }
    let overriding = entity.subtree.dropFirst().map { Node(entity: model.entities[$0].name, name: name) }
    return [nearest].compactMap(\.self) + overriding.filter { entries[$0] != nil }
  }
}
