import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQLiteStore

/// Converts the value of an older composite attribute to a newer one, element by element, by names and renaming
/// identifiers.
///
/// For example, `address.zip` as an integer becomes `address.postcode` as a string. Used by copies of composites in
/// mapped migrations; lightweight migrations convert the columns in SQL (`CompositeMigration`).
struct ElementConversion {
  /// The source of an element; nil for a new element.
  private struct Origin {
    /// The path of the old element.
    let path: [String]
    /// The old element.
    let old: AttributeDescription
    /// The new element.
    let new: AttributeDescription
    /// The conversion; nil if the types have none.
    let conversion: AttributeConversion?

    /// The converted value; nil for a value without a counterpart in the new type.
    func convert(_ value: Value) -> Value? { value.isNull ? value : conversion?.convert(value) }
  }

  /// The new composite attribute.
  private let attribute: AttributeDescription
  /// The origins of the new elements, in the order of `paths`.
  private let origins: [Origin?]
  /// The paths of the new elements.
  private let paths: [[String]]
  /// The changes of the elements, as a plan shows them. For example `~ address.postcode (was zip): integer32 → string`.
  let changes: [String]

  /// Returns nil if all elements stay as they are. `old` and `new` are composite attributes of the two models.
  init?(from old: AttributeDescription, to new: AttributeDescription) {
    let mapping = ElementMapping(from: old, to: new)
    let leaves = new.leaves
    attribute = new
    paths = leaves.map(\.path)
    origins = leaves.map { leaf in
      mapping.origins[leaf.path].map { before in
        Origin(
          path: before.path, old: before.attribute, new: leaf.attribute,
          conversion: AttributeConversion(from: before.attribute.type, to: leaf.attribute.type))
      }
    }
    changes =
      zip(leaves, origins).compactMap { leaf, origin in
        let name = "\(new.name).\(leaf.path.joined(separator: "."))"
        guard let origin else { return "+ \(name)" }
        let was = origin.path == leaf.path ? "" : " (was \(origin.path.joined(separator: ".")))"
        let (before, now) = (origin.old.type, origin.new.type)
        if before != now { return "~ \(name)\(was): \(before.modelName) → \(now.modelName)" }
        return was.isEmpty ? nil : "~ \(name)\(was)"
      } + mapping.removed.map { "- \(new.name).\($0.path.joined(separator: "."))" }
    if changes.isEmpty { return nil }
  }

  /// The value with all elements that the newer types can hold. An element that cannot be converted becomes null, and a
  /// new element gets its default value.
  func convert(_ value: Value) -> Value {
    var places = origins.indices.makeIterator()
    return attribute.assembled { () -> Value in
      guard let place = places.next() else { return .null }
      if let origin = origins[place] { return origin.convert(value.element(at: origin.path)) ?? .null }
      return attribute.element(at: paths[place])?.defaultValue ?? .null
    }
  }

  /// The first element whose old value the newer type cannot hold, unless the new value already has another one. The
  /// name of the element, with dots. Nil if nothing is lost.
  func lostElement(of old: Value, in new: Value = .null) -> String? {
    for (path, origin) in zip(paths, origins) {
      guard let origin, origin.convert(old.element(at: origin.path)) == nil, new.element(at: path).isNull else {
        continue
      }
      return path.joined(separator: ".")
    }
    return nil
  }
}
