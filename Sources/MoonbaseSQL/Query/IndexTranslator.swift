package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Expression
package import enum MoonbaseModel.Predicate

/// Says the parts of an index as predicates on its columns are said: SQLite finds an index of a computation, or of some rows, by these
/// words alone.
package struct IndexTranslator {
  private let translator: QueryTranslator
  private let entity: ResolvedEntity

  /// For indexes of an entity's table.
  package init(_ entity: EntityLayout, layout: StoreLayout, dialect: Dialect) {
    self.entity = entity.entity
    translator = QueryTranslator(columnsOf: entity, layout: layout, dialect: dialect)
  }

  /// An element's term. Throws `Untranslatable`.
  package func translate(_ expression: Expression) throws -> String {
    try plain(translator.translate(expression).fragment)
  }

  /// The condition of the rows. Throws `Untranslatable`.
  package func translate(_ condition: Predicate) throws -> String {
    try plain(translator.translate(condition.folded(for: entity)))
  }

  private func plain(_ fragment: SQLFragment) throws -> String {
    guard fragment.values.isEmpty, translator.root.joins.isEmpty else {
      throw Untranslatable("an index says nothing but columns and constants of its own table")
    }
    return fragment.text
  }
}

extension Value {
  /// The value as part of a statement, where every program that reads the statement has the same value; nil for others.
  var literal: String? {
    switch self {
    case .bool(let truth): truth ? "1" : "0"
    case .int(let number): "\(number)"
    case .double(let number): number.isPlain ? "\(number)" : nil
    case .date(let date):
      date.timeIntervalSinceReferenceDate.isPlain ? "\(date.timeIntervalSinceReferenceDate)" : nil
    case .string(let text): text.utf8.contains(0) ? nil : "'" + text.replacing("'", with: "''") + "'"
    case .null, .decimal, .data, .uuid, .uri, .objectID, .list, .map, .object: nil
    }
  }
}
