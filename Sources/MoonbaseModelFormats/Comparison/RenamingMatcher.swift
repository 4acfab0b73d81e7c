package import MoonbaseModel

/// Finds for the things of a newer model the things they were in the older one.
///
/// A renaming identifier names the older thing, and stays when nothing is renamed any more. So in this order: the same name
/// with the same identifier; the identifier as a name; the same identifier; the same name. Nothing is matched twice.
package struct RenamingMatcher {
  /// Names in the newer model with their names in the older.
  package private(set) var oldNames: [String: String] = [:]

  /// Matches attributes.
  package init(oldAttributes: [AttributeDescription], newAttributes: [AttributeDescription]) {
    self.init(old: oldAttributes, new: newAttributes)
  }

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

  /// The names in the older model that nothing in the newer one comes from.
  func removed(from old: [some NamedDescription]) -> [String] {
    let used = Set(oldNames.values)
    return old.map(\.name).filter { !used.contains($0) }
  }
}
