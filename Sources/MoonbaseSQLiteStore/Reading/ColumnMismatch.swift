import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// What a column holds is no value of its attribute: nothing is made of it without a word.
struct ColumnMismatch: Error {
  /// What the column holds, and what it should hold.
  let description: String
  /// Tells apart what a column may hold.
  let digest: Int
  /// The names of the elements of a composite that lead to the column.
  private(set) var element: [String] = []

  /// The same of the column of an element.
  func of(element path: [String]) -> ColumnMismatch {
    var result = self
    result.element = path
    return result
  }

  /// The property as it is called, with the element that is damaged.
  func name(of property: String) -> String { ([property] + element).joined(separator: ".") }

  /// The storage class is that of before anything was read, which SQLite converts in place.
  init(_ row: Statement, column: Int32, storage: StorageClass, wanted: String) {
    var hasher = Hasher()
    hasher.combine(storage)
    row.withBytes(column) { hasher.combine(bytes: $0) }
    digest = hasher.finalize()
    let found =
      switch storage {
      case .blob: "\(row.data(column).count) bytes"
      case .text: row.withBytes(column, Self.found(text:))
      case .integer, .real, .null: row.text(column)
      }
    description = "holds \(found), which is no \(wanted)"
  }

  /// Text in UTF-16 with a surrogate that is alone.
  init(malformedUTF16 row: Statement, column: Int32) {
    var hasher = Hasher()
    row.withBytes(column) { hasher.combine(bytes: $0) }
    digest = hasher.finalize()
    description = "holds text that is not UTF-16"
  }

  private static func found(text bytes: UnsafeRawBufferPointer) -> String {
    if !bytes.isUTF8 {
      let shown = bytes.prefix(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
      return "text whose bytes (\(shown)\(bytes.count > 20 ? " ..." : "")) are not UTF-8"
    }
    return "the text \(String(decoding: bytes.prefix(240), as: UTF8.self).prefix(60).debugDescription)"
  }
}

/// Whose values a row holds that are none: what the error of each says.
struct RowDamage {
  /// The store's file.
  let path: String
  let table: String
  let id: ManagedObjectID

  /// The error of a row, or of what one column of it holds.
  func error(_ what: String, property: String? = nil) -> GraphError {
    GraphError(
      .invalidStore, message: "\(path) is damaged: table \(table), row \(id.key): \(what)", entity: id.entityName,
      property: property, objectID: id)
  }

  /// What stands in the place of a value that a column does not hold: to read it throws.
  func token(_ mismatch: ColumnMismatch, of property: ResolvedProperty) -> Value {
    let error = error(
      "\(id.entityName).\(mismatch.name(of: property.name)) \(mismatch.description); \(property.derivationAdvice ?? "put it right, or set it to NULL")",
      property: property.name)
    return .object(OpaqueObject(damage: error, digest: mismatch.digest))
  }

  /// What stands in the place of all values of a row whose entity nobody knows.
  func token(entityNumber found: String, known: String) -> Value {
    let error = error("its entity number (Z_ENT) is \(found), which is none of \(known)")
    return .object(OpaqueObject(damage: error, digest: error.message.hashValue))
  }
}

extension ResolvedProperty {
  /// What to do where the store derived a value that the attribute cannot be; nil for an attribute that is not derived.
  var derivationAdvice: String? {
    attribute?.derivationExpression.map {
      "it is derived (\($0)): \(Self.derivationRemedy)"
    }
  }

  private static let derivationRemedy = "put right what it is derived from, or make its type wider"

  /// What is wrong with a value to which the store derives an attribute, and what to do.
  var derivedMisfitAdvice: String? {
    attribute.flatMap(ColumnKind.init).map { "no \($0.valueName): \(Self.derivationRemedy)" }
  }
}
