package import MoonbaseModel

/// Matches the elements of a newer model with those of an older one.
///
/// A renaming identifier names the older element, and remains after the renaming. The order is therefore: the same name
/// with the same identifier; the identifier as a name; the same identifier; the same name. Each element is matched
/// once.
package struct RenamingMatcher {
  /// The older names by the newer names.
  package private(set) var oldNames: [String: String] = [:]

  /// Matches attributes.
  package init(oldAttributes: [AttributeDescription], newAttributes: [AttributeDescription]) {
    self.init(old: oldAttributes, new: newAttributes)
  }

  /// Matches elements of one kind in four passes, each over the elements that are not matched yet.
  init(old: [some NamedDescription], new: [some NamedDescription]) {
    var free = Set(old.map(\.name))
    let identifiers = Dictionary(old.map { ($0.name, $0.renamingIdentifier) }) { first, _ in first }
    let byIdentifier = Dictionary(
      old.compactMap { thing in thing.renamingIdentifier.map { ($0, thing.name) } }
    ) { first, _ in first }
    func pass(_ find: (any NamedDescription) -> String?) {
      for thing in new where oldNames[thing.name] == nil {
        if let name = find(thing), free.remove(name) != nil { oldNames[thing.name] = name }
      }
    }
    pass { thing in
      guard let identifier = thing.renamingIdentifier, identifiers[thing.name] == identifier else { return nil }
      return thing.name
    }
    pass { $0.renamingIdentifier }
    pass { $0.renamingIdentifier.flatMap { byIdentifier[$0] } }
    pass { $0.name }
  }

  /// The older names without a newer counterpart.
  ///
  /// In the order of the older model.
  func removed(from old: [some NamedDescription]) -> [String] {
    let used = Set(oldNames.values)
    return old.map(\.name).filter { !used.contains($0) }
  }
}
