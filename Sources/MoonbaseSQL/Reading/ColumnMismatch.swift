package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform

/// What a column holds is no value of its attribute: nothing is made of it without a word.
package struct ColumnMismatch: Error {
  /// What the column holds, and what it should hold.
  package let description: String
  /// Tells apart what a column may hold.
  package let digest: Int
  /// The names of the elements of a composite that lead to the column.
  package private(set) var element: [String] = []

  package init(_ description: String, digest: Int) { (self.description, self.digest) = (description, digest) }

  /// The same of the column of an element.
  package func of(element path: [String]) -> ColumnMismatch {
    var result = self
    result.element = path
    return result
  }

  /// The property as it is called, with the element that is damaged.
  package func name(of property: String) -> String { ([property] + element).joined(separator: ".") }
}

/// Whose values a row holds that are none: what the error of each says.
package struct RowDamage {
  /// The store's file, or address.
  private let path: String
  private let table: String
  private let id: ManagedObjectID

  package init(path: String, table: String, id: ManagedObjectID) {
    (self.path, self.table, self.id) = (path, table, id)
  }

  /// The error of a row, or of what one column of it holds.
  package func error(_ what: String, property: String? = nil) -> GraphError {
    GraphError(
      .invalidStore, message: "\(path) is damaged: table \(table), row \(id.key): \(what)", entity: id.entityName,
      property: property, objectID: id)
  }

  /// What stands in the place of a value that a column does not hold: to read it throws.
  package func token(_ mismatch: ColumnMismatch, of property: ResolvedProperty) -> Value {
    let error = error(
      "\(id.entityName).\(mismatch.name(of: property.name)) \(mismatch.description); \(property.derivationAdvice ?? "put it right, or set it to NULL")",
      property: property.name)
    return .object(OpaqueObject(damage: error, digest: mismatch.digest))
  }

  /// What stands in the place of all values of a row whose entity nobody knows.
  package func token(entityNumber found: String, known: String) -> Value {
    let error = error("its entity number (Z_ENT) is \(found), which is none of \(known)")
    return .object(OpaqueObject(damage: error, digest: error.message.hashValue))
  }
}

extension ResolvedProperty {
  /// What to do where the store derived a value that the attribute cannot be; nil for an attribute that is not derived.
  package var derivationAdvice: String? {
    attribute?.derivationExpression.map {
      "it is derived (\($0)): \(Self.derivationRemedy)"
    }
  }

  private static let derivationRemedy = "put right what it is derived from, or make its type wider"

  /// What is wrong with a value to which the store derives an attribute, and what to do.
  package var derivedMisfitAdvice: String? {
    attribute.flatMap(ColumnKind.init).map { "no \($0.valueName): \(Self.derivationRemedy)" }
  }
}
