import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL

/// A composite attribute that a migration keeps, with the elements of which its elements come.
struct CompositeMigration {
  let old: CompositeLayout
  let new: CompositeLayout
  /// The old property, and the entity whose it is.
  let property: ResolvedProperty
  private let entity: EntityLayout
  private let elements: ElementMapping

  /// Nil where what was kept is no composite, or is none any more.
  init?(_ property: ResolvedProperty, of migration: EntityMigration) {
    guard case .composite(let new) = migration.new.slots[property.slot],
      let origin = migration.origin(of: property), case .composite(let old) = origin.slot
    else { return nil }
    (self.old, self.new, self.property, entity) = (old, new, origin.property, migration.old)
    elements = ElementMapping(from: old.attribute, to: new.attribute)
  }

  /// The old element of which a new one comes.
  func origin(of leaf: CompositeLayout.Leaf) -> CompositeLayout.Leaf? {
    elements.origins[leaf.path].flatMap { old.leaf(at: $0.path) }
  }

  /// The old elements of which nothing comes.
  var removed: [CompositeLayout.Leaf] { elements.removed.compactMap { old.leaf(at: $0.path) } }

  /// How values of an element change; nil for one that stays as it is.
  func conversion(of leaf: CompositeLayout.Leaf) -> ColumnConversion? {
    origin(of: leaf).flatMap { ColumnConversion(leaf, from: $0, of: property, in: entity) }
  }

  /// What becomes of its elements, as a plan says it.
  var changes: [String] {
    new.leaves.compactMap { leaf -> String? in
      let name = leaf.path.joined(separator: ".")
      guard let before = origin(of: leaf) else { return "+ \(name)" }
      let was = before.path == leaf.path ? "" : " (was \(before.path.joined(separator: ".")))"
      let (old, new) = (before.attribute.type, leaf.attribute.type)
      if old != new { return "~ \(name)\(was): \(old.modelName) → \(new.modelName)" }
      return was.isEmpty ? nil : "~ \(name)\(was)"
    } + removed.map { "- \($0.path.joined(separator: "."))" }
  }

  /// Whether all columns and what they hold stay.
  var isSame: Bool {
    removed.isEmpty && old.leaves.count == new.leaves.count
      && new.leaves.allSatisfy { leaf in
        origin(of: leaf).map {
          $0.column == leaf.column && $0.kind == leaf.kind && $0.attribute.type == leaf.attribute.type
        } ?? false
      }
  }
}

extension CompositeLayout {
  /// Whether a row has a value: a condition for its table.
  var presence: String { Self.presence(of: leaves.map { identifier($0.column) }) }

  /// Whether one of some expressions has a value.
  static func presence(of expressions: [String]) -> String {
    expressions.isEmpty ? "0" : "(" + expressions.map { "\($0) IS NOT NULL" }.joined(separator: " OR ") + ")"
  }
}
