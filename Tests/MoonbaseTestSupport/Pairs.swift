public import MoonbaseGraph
public import MoonbaseModel

/// A model with each kind of relationship, from an entity to itself, and its invariants.
public enum Pairs {
  /// Relationships by name, with the name of the inverse.
  public static let inverses = [
    "spouse": "spouse", "seat": "sitter", "sitter": "seat", "parent": "children", "children": "parent",
    "shelf": "books",
    "books": "shelf", "friends": "friends", "likes": "likedBy", "likedBy": "likes",
  ]
  /// The to-many relationships.
  public static let toMany: Set = ["children", "books", "friends", "likes", "likedBy"]

  /// The model as a value.
  public static func model() -> ManagedObjectModel {
    var node = EntityDescription("Node")
    node.attributes = [AttributeDescription("name", type: .string), AttributeDescription("number", type: .integer64)]
    node.relationships = inverses.sorted { $0.key < $1.key }.map { name, inverse in
      toMany.contains(name)
        ? .toMany(name, destination: "Node", inverse: inverse) : .toOne(name, destination: "Node", inverse: inverse)
    }
    for index in node.relationships.indices where ["books", "likes"].contains(node.relationships[index].name) {
      node.relationships[index].isOrdered = true
    }
    var leaf = EntityDescription("Leaf")
    leaf.superentityName = "Node"
    return ManagedObjectModel(entities: [node, leaf])
  }

  /// The destinations of each relationship of each object, by the objects' names.
  public static func links(in context: ManagedObjectContext) throws -> [String: [String: [String]]] {
    var result: [String: [String: [String]]] = [:]
    for node in try context.fetch(FetchRequest("Node")) {
      for name in inverses.keys {
        let destinations =
          try toMany.contains(name) ? node.objects(forKey: name) : [node.object(forKey: name)].compactMap { $0 }
        result[text(node), default: [:]][name] = try destinations.map { destination in
          // A deleted destination has no name.
          try destination.fireFault()
          return text(destination)
        }
      }
    }
    return result
  }

  /// Links without an inverse link, and duplicate links.
  public static func broken(in context: ManagedObjectContext) throws -> [String] {
    let links = try links(in: context)
    var broken: [String] = []
    for (node, byName) in links {
      for (name, destinations) in byName {
        if Set(destinations).count != destinations.count { broken.append("\(node).\(name) names one twice") }
        for destination in destinations
        where links[destination]?[inverses[name] ?? ""]?.contains(node) != true {
          broken.append("\(node).\(name) leads to \(destination), which does not lead back")
        }
      }
    }
    return broken.sorted()
  }

  private static func text(_ node: ManagedObject) -> String {
    if case .string(let name) = node["name"] { name } else { "\(node.objectID)" }
  }
}
