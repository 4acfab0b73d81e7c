package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// A column value that is no value of its attribute. Mismatched values are never converted silently.
///
/// Decoding throws or keeps it as a token, and reading the property throws an error that names file, table, row and
/// property (`RowDamage`).
package struct ColumnMismatch: Error {
  /// A description of the stored and the expected value. For example `holds the text 'abc', which is no integer`.
  package let description: String
  /// A digest that distinguishes the stored values. Two equal digests let comparisons treat the values as unchanged.
  package let digest: Int
  /// The path of the composite's element with the column.
  package private(set) var element: [String] = []

  /// A mismatch of a plain attribute.
  package init(_ description: String, digest: Int) { (self.description, self.digest) = (description, digest) }

  /// The mismatch, as that of an element.
  package func of(element path: [String]) -> ColumnMismatch {
    var result = self
    result.element = path
    return result
  }

  /// The name of the property, with the path of the damaged element.
  package func name(of property: String) -> String { ([property] + element).joined(separator: ".") }
}

/// Errors for the invalid values of a row.
///
/// A value made when a row has a mismatch, from the parts that the message names.
package struct RowDamage {
  /// The store's file, or address.
  private let path: String
  /// The table of the row.
  private let table: String
  /// The object of the row.
  private let id: ManagedObjectID

  /// Makes the errors for a row of a table.
  package init(path: String, table: String, id: ManagedObjectID) {
    (self.path, self.table, self.id) = (path, table, id)
  }

  /// The error for a row, or for a column of it. `what` describes the damage. The code is `.invalidStore`.
  package func error(_ what: String, property: String? = nil) -> GraphError {
    GraphError(
      .invalidStore, message: "\(path) is damaged: table \(table), row \(id.key): \(what)", entity: id.entityName,
      property: property, objectID: id)
  }

  /// A token for a value that a column does not hold. Reading it throws. The row's valid properties stay readable.
  /// Saving the object unchanged keeps the stored value.
  package func token(_ mismatch: ColumnMismatch, of property: ResolvedProperty) -> Value {
    let error = error(
      "\(id.entityName).\(mismatch.name(of: property.name)) \(mismatch.description); \(property.derivationAdvice ?? "put it right, or set it to NULL")",
      property: property.name)
    return .object(OpaqueObject(damage: error, digest: mismatch.digest))
  }

  /// A token for all values of a row of an unknown entity. `known` lists the possible numbers.
  package func token(entityNumber found: String, known: String) -> Value {
    let error = error("its entity number (Z_ENT) is \(found), which is none of \(known)")
    return .object(OpaqueObject(damage: error, digest: error.message.hashValue))
  }
}

extension ResolvedProperty {
  /// Advice for a derived value that the attribute's type cannot hold. Nil for an attribute that is not derived.
  package var derivationAdvice: String? {
    attribute?.derivationExpression.map {
      "it is derived (\($0)): \(Self.derivationRemedy)"
    }
  }

  /// Used in two messages.
  private static let derivationRemedy = "put right what it is derived from, or make its type wider"

  /// A description of a derived value that the attribute's type cannot hold, with advice. Nil for a property without a
  /// column.
  package var derivedMisfitAdvice: String? {
    attribute.flatMap(ColumnKind.init).map { "no \($0.valueName): \(Self.derivationRemedy)" }
  }
}
