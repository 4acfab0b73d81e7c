import MoonbasePlatform

/// An object of a store in Core Data's XML form.
struct XMLStoreObject {
  let type: String
  let id: String
  let line: Int
  /// The IDs at the other end, by relationship.
  let relationships: [String: [String]]
  private let attributes: [String: String]

  func string(_ name: String) -> String? { attributes[name] }

  func integer(_ name: String) -> Int? { attributes[name].flatMap { Int($0) } }

  func data(_ name: String) -> Data? {
    attributes[name].flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
  }

  /// The objects of an XML store.
  static func read(_ data: Data, file: String) throws(ModelError) -> [XMLStoreObject] {
    let root = try MarkupReader.read(data, file: file)
    guard root.name == "database" else {
      throw ModelError(
        .malformedFile, "the file is no XML store: it begins with <\(root.name)> instead of <database>",
        at: SourceLocation(file: file, line: root.line))
    }
    var objects: [XMLStoreObject] = []
    for element in root.children(named: "object") {
      guard let type = element["type"], let id = element["id"] else {
        throw ModelError(
          .malformedFile, "an object has no type or no ID", at: SourceLocation(file: file, line: element.line))
      }
      objects.append(XMLStoreObject(type: type, id: id, element: element))
    }
    return objects
  }

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
