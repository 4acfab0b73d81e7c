import MoonbaseModel
import MoonbasePlatform

/// An object of a store in Core Data's XML format.
///
/// Xcode saves mapping models as such stores. Attribute names are in lower case, as
/// `mappingnumber`.
struct XMLStoreObject {
  /// The name of the entity in capitals.
  let type: String
  /// The ID in the file, as `z102`.
  let id: String
  /// The line of the element, from 1.
  let line: Int
  /// The IDs of the destinations, by relationship.
  let relationships: [String: [String]]
  /// The texts of the attributes, by name.
  private let attributes: [String: String]

  /// The names of all attributes and relationships.
  var names: [String] { (Array(attributes.keys) + Array(relationships.keys)).sorted() }

  /// The text of an attribute; nil if it is missing.
  func string(_ name: String) -> String? { attributes[name] }

  /// A nonempty text; nil otherwise.
  func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// An integer; `.some(nil)` if the text is not an integer.
  func integer(_ name: String) -> Int?? { attributes[name].map { Int($0) } }

  /// Bytes; `.some(nil)` if the text is not base64.
  func data(_ name: String) -> Data?? {
    attributes[name].map { Data(base64Encoded: $0.filter { !$0.isWhitespace }) }
  }

  /// The objects of an XML store by ID, and warnings about unknown elements.
  ///
  /// Throws `.malformedFile` for other XML, for an object without a type or an ID, and for an ID
  /// that occurs twice.
  static func read(_ data: Data, file: String) throws(ModelError) -> (
    objects: [String: XMLStoreObject], warnings: [String]
  ) {
    let root = try MarkupReader.read(data, file: file)
    guard root.name == "database" else {
      throw ModelError(
        .malformedFile, message: "the file is no XML store: it begins with <\(root.name)> instead of <database>",
        at: SourceLocation(file: file, line: root.line))
    }
    var objects: [String: XMLStoreObject] = [:]
    var warnings: [String] = []
    for element in root.children where element.name != "databaseInfo" {
      guard element.name == "object" else {
        warnings.append("\(file):\(element.line): <\(element.name)> is not understood")
        continue
      }
      guard let type = element["type"], let id = element["id"] else {
        throw ModelError(
          .malformedFile, message: "an object has no type or no ID", at: SourceLocation(file: file, line: element.line))
      }
      let other = objects.updateValue(XMLStoreObject(type: type, id: id, element: element), forKey: id)
      if let other {
        throw ModelError(
          .malformedFile, message: "the ID \(id) is that of an object in line \(other.line) too",
          at: SourceLocation(file: file, line: element.line))
      }
    }
    return (objects, warnings)
  }

  /// An object of an element, with its attributes and relationships.
  private init(type: String, id: String, element: MarkupElement) {
    self.type = type
    self.id = id
    line = element.line
    let values = element.children(named: "attribute").compactMap { child in child["name"].map { ($0, child.text) } }
    attributes = Dictionary(values) { first, _ in first }
    let ends = element.children(named: "relationship").compactMap { child in
      child["name"].map { ($0, (child["idrefs"] ?? "").split(separator: " ").map(String.init)) }
    }
    relationships = Dictionary(ends) { first, _ in first }
  }
}
