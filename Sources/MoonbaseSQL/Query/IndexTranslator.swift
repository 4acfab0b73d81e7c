package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Expression
package import enum MoonbaseModel.Predicate

/// Translates the parts of an index with the same SQL as predicates on its columns. SQLite uses an index of an
/// expression, or a partial index, only where the SQL is the same.
///
/// Terms are written without parameters: constants become literals, therefore only constants whose literal every
/// program reads alike can be part of an index.
package struct IndexTranslator {
  /// A translator whose columns have no alias.
  private let translator: QueryTranslator
  /// The entity with the index.
  private let entity: ResolvedEntity

  /// Makes a translator for indexes of an entity's table.
  package init(_ entity: EntityLayout, layout: StoreLayout, dialect: Dialect) {
    self.entity = entity.entity
    translator = QueryTranslator(columnsOf: entity, layout: layout, dialect: dialect)
  }

  /// The term of an index element. Throws `Untranslatable`. For example `ZAGE` or `moonbase_function_3(ZAGE)`.
  package func translate(_ expression: Expression) throws -> String {
    try plain(translator.translate(expression).fragment)
  }

  /// The condition of a partial index. Throws `Untranslatable`. For example `ZAGE > 18`.
  package func translate(_ condition: Predicate) throws -> String {
    try plain(translator.translate(condition.folded(for: entity)))
  }

  /// The text of a fragment without parameters and joins. Throws `Untranslatable` for others.
  private func plain(_ fragment: SQLFragment) throws -> String {
    guard fragment.values.isEmpty, translator.root.joins.isEmpty else {
      throw Untranslatable("an index says nothing but columns and constants of its own table")
    }
    return fragment.text
  }
}

extension Value {
  /// The value as a literal, if every program reads it as the same value. Doubles that are not plain, texts with NUL
  /// and values of other kinds have no literal.
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
