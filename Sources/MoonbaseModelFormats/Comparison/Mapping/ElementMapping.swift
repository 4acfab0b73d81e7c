package import MoonbaseModel

/// The correspondence between elements of an older and a newer composite attribute, by names and renaming identifiers
/// at each level.
///
/// A leaf is an element that is no composite itself. For example, `address.zip` may be the origin
/// of `address.code`.
package struct ElementMapping: Sendable {
  /// The older leaf elements by the paths of the newer leaf elements.
  package private(set) var origins: [[String]: AttributeDescription.Leaf] = [:]
  /// The older leaf elements without a newer counterpart.
  package let removed: [AttributeDescription.Leaf]

  /// Matches the elements of two composite attributes.
  package init(from old: AttributeDescription, to new: AttributeDescription) {
    origins = Self.origins(from: old, to: new)
    let kept = Set(origins.values.map(\.path))
    removed = old.leaves.filter { !kept.contains($0.path) }
  }

  /// Matches the elements of a level, and recursively those of nested composites. A leaf and a
  /// composite never match.
  private static func origins(
    from old: AttributeDescription, to new: AttributeDescription
  ) -> [[String]: AttributeDescription.Leaf] {
    var result: [[String]: AttributeDescription.Leaf] = [:]
    let names = RenamingMatcher(old: old.elements, new: new.elements).oldNames
    for element in new.elements {
      guard let before = names[element.name].flatMap({ name in old.elements.first { $0.name == name } }) else {
        continue
      }
      switch (before.type == .composite, element.type == .composite) {
      case (false, false): result[[element.name]] = .init(path: [before.name], attribute: before)
      case (true, true):
        for (path, leaf) in origins(from: before, to: element) {
          result[[element.name] + path] = .init(path: [before.name] + leaf.path, attribute: leaf.attribute)
        }
      case (true, false), (false, true): break
      }
    }
    return result
  }
}
