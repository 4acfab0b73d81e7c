import MoonbaseModel

/// The model of the reference suites: a relationship of each kind from an entity to itself, and a unique, a
/// transformable and a transient attribute.
enum ReferenceModel {
  /// A direction of a relationship.
  struct Link: Sendable {
    let name: String
    let inverse: String
    var isToMany = false
    var isOrdered = false
    var isTransient = false
    var deleteRule = DeleteRule.nullify

    var back: Link { ReferenceModel.link(inverse) }
  }

  /// Relationships that are set at random.
  static let freeLinks: [Link] = [
    Link(name: "spouse", inverse: "spouse"),
    Link(name: "seat", inverse: "sitter"), Link(name: "sitter", inverse: "seat"),
    Link(name: "parent", inverse: "children"),
    Link(name: "children", inverse: "parent", isToMany: true, deleteRule: .cascade),
    Link(name: "shelf", inverse: "books"), Link(name: "books", inverse: "shelf", isToMany: true, isOrdered: true),
    Link(name: "friends", inverse: "friends", isToMany: true),
    Link(name: "likes", inverse: "likedBy", isToMany: true, isOrdered: true),
    Link(name: "likedBy", inverse: "likes", isToMany: true),
    Link(name: "visits", inverse: "guests", isTransient: true),
    Link(name: "guests", inverse: "visits", isToMany: true, isTransient: true),
  ]

  static let links =
    freeLinks + [
      Link(name: "keeper", inverse: "wards"),
      Link(name: "wards", inverse: "keeper", isToMany: true, deleteRule: .deny),
    ]

  private static let linksByName = Dictionary(uniqueKeysWithValues: links.map { ($0.name, $0) })
  static func link(_ name: String) -> Link { linksByName[name] ?? links[0] }

  /// The values of a new object.
  static let defaults: [String: Value] = [
    "name": .null, "number": 0, "data": .null, "code": .null, "mood": .null, "note": .null,
  ]
  /// Attributes that are set at random. No store has the last one.
  static let keys = ["name", "number", "data", "mood"]

  static func model() -> ManagedObjectModel {
    var node = EntityDescription("Node")
    var number = AttributeDescription("number", type: .integer64)
    number.defaultValue = 0
    var mood = AttributeDescription("mood", type: .string)
    mood.isTransient = true
    node.attributes = [
      AttributeDescription("name", type: .string), number, AttributeDescription("data", type: .transformable),
      AttributeDescription("code", type: .string), mood, AttributeDescription("note", type: .string),
    ]
    node.managedObjectClassName = "ReferenceNode"
    node.uniquenessConstraints = [["code"]]
    node.relationships = links.map { link in
      var relationship: RelationshipDescription =
        link.isToMany
        ? .toMany(link.name, destination: "Node", inverse: link.inverse)
        : .toOne(link.name, destination: "Node", inverse: link.inverse)
      relationship.isOrdered = link.isOrdered
      relationship.isTransient = link.isTransient
      relationship.deleteRule = link.deleteRule
      return relationship
    }
    var leaf = EntityDescription("Leaf")
    leaf.superentityName = "Node"
    leaf.managedObjectClassName = "ReferenceNode"
    leaf.attributes = [AttributeDescription("extra", type: .double)]
    return ManagedObjectModel(entities: [node, leaf])
  }
}
