package import MoonbaseModel
import MoonbaseSQL
package import MoonbaseSQLite

/// Assembles the value of a composite attribute from the columns of its elements.
///
/// Part of a `RowPlan`, and immutable. Nested composites are assembled in one pass, because their leaves follow each
/// other.
package struct CompositeDecoder: Sendable {
  /// The attribute, with its elements.
  private let attribute: AttributeDescription
  /// The paths of the elements and their columns, in the order of the attribute.
  private let leaves: [(path: [String], place: RowSelect.Place)]

  /// Computed once per plan.
  package init(_ composite: RowSelect.Composite) {
    attribute = composite.layout.attribute
    leaves = zip(composite.layout.leaves, composite.places).map { ($0.path, $1) }
  }

  /// Returns null where no element has a value. A mismatch names the element, as in `address.zip`.
  package func value(_ row: Statement, external: ExternalData) throws(ColumnMismatch) -> Value {
    var index = 0
    return try attribute.assembled { () throws(ColumnMismatch) -> Value in
      let leaf = leaves[index]
      index += 1
      do throws(ColumnMismatch) {
        return try Self.value(of: leaf.place, row, external: external)
      } catch {
        throw error.of(element: leaf.path)
      }
    }
  }

  /// Elements are never relationships.
  private static func value(
    of place: RowSelect.Place, _ row: Statement, external: ExternalData
  ) throws(ColumnMismatch) -> Value {
    switch place {
    case .attribute(let kind, let column):
      return try ColumnDecoder.value(kind, of: row, column: column, external: external)
    case .wideText(let kind, let column):
      if !row.isWellFormedUTF16(column) { throw ColumnMismatch(malformedUTF16: row, column: column) }
      return try ColumnDecoder.value(kind, of: row, column: column, external: external)
    case .null, .lost, .composite, .toOne, .polymorphic: return .null
    }
  }
}
