import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLiteStore

/// A composite attribute that a migration keeps, with the mapping of its elements.
///
/// Elements are matched by names and renaming identifiers; each matched element keeps its column's values, converted if
/// its type changes.
struct CompositeMigration {
  /// The old columns.
  let old: CompositeLayout
  /// The new columns.
  let new: CompositeLayout
  /// The old property, and its entity.
  let property: ResolvedProperty
  /// The old entity.
  private let entity: EntityLayout
  /// Old and new elements.
  private let elements: ElementMapping

  /// Returns nil unless the attribute is a composite both before and after the migration.
  init?(_ property: ResolvedProperty, of migration: EntityMigration) {
    guard case .composite(let new) = migration.new.slots[property.slot],
      let origin = migration.origin(of: property), case .composite(let old) = origin.slot
    else { return nil }
    (self.old, self.new, self.property, entity) = (old, new, origin.property, migration.old)
    elements = ElementMapping(from: old.attribute, to: new.attribute)
  }

  /// The old element for a new one; nil if there is none. By renaming identifier or name.
  func origin(of leaf: CompositeLayout.Leaf) -> CompositeLayout.Leaf? {
    elements.origins[leaf.path].flatMap { old.leaf(at: $0.path) }
  }

  /// The old elements without a new one. Their values are losses.
  var removed: [CompositeLayout.Leaf] { elements.removed.compactMap { old.leaf(at: $0.path) } }

  /// The conversion of an element; nil if it stays as it is. For statements that move rows.
  func conversion(of leaf: CompositeLayout.Leaf) -> ColumnConversion? {
    origin(of: leaf).flatMap { ColumnConversion(leaf, from: $0, of: property, in: entity) }
  }

  /// The changes of the elements, as a plan shows them. For example `+ country`, `~ postcode (was zip)`.
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

  /// Whether all columns and their contents stay as they are. The rows then need not be rewritten for this attribute.
  var isSame: Bool {
    removed.isEmpty && old.leaves.count == new.leaves.count
      && new.leaves.allSatisfy { leaf in
        origin(of: leaf).map {
          $0.column == leaf.column && $0.kind == leaf.kind && $0.attribute.type == leaf.attribute.type
        } ?? false
      }
  }
}

/// Conditions over the columns of a composite.
extension CompositeLayout {
  /// The SQL condition that a row has a value. A composite whose elements are all null is missing.
  var presence: String { Self.presence(of: leaves.map { identifier($0.column) }) }

  /// The SQL condition that one of some expressions is not null. `0` for no expressions.
  static func presence(of expressions: [String]) -> String {
    expressions.isEmpty ? "0" : "(" + expressions.map { "\($0) IS NOT NULL" }.joined(separator: " OR ") + ")"
  }
}
