import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The columns of a fetch, which are key paths or the object's URI.
///
/// The columns are checked before anything is fetched. They decide how a row is read: from the
/// stored row alone, or through an object.
struct FetchColumns {
  /// The name of the column for the object's URI.
  static let id = "_id"

  /// The names, in order.
  let names: [String]
  /// The relationships in the paths of the columns, to be prefetched.
  let relationshipPaths: [String]
  /// The slots of a row that contain the columns in their output form, with nil for the URI. The list is nil if a
  /// column needs an object. This is the case for a path, a to-many relationship, and a value that an extension or a
  /// transformer makes.
  let slots: [Slot?]?
  /// Which columns have single precision.
  let floats: [Bool]
  /// Which columns contain any value, stored by the default transformer.
  let transformables: [Bool]

  /// Creates the columns of these names. Without names, the columns are the values in an object's own row. With
  /// `includesAdded`, they include the attributes that extensions add.
  ///
  /// Throws for an unknown entity or name before anything is fetched.
  init(_ names: [String]?, of entityName: String, in model: ResolvedModel, includesAdded: Bool = true) throws {
    guard let entity = model.entity(entityName) else { throw GraphError.unknownEntity(entityName, in: model) }
    self.names = names ?? Self.ownNames(of: entity, includesAdded: includesAdded)
    var paths: [String] = []
    for name in self.names where name != Self.id {
      guard let path = try Self.relationshipPath(of: name, on: entity, in: model), !paths.contains(path) else {
        continue
      }
      paths.append(path)
    }
    relationshipPaths = paths
    let places = self.names.map { Self.place(of: $0, on: entity) }
    slots = places.contains { $0 == nil } ? nil : places.map { $0 ?? nil }
    let attributes = self.names.map { Self.attribute($0, of: entity, in: model) }
    floats = attributes.map { $0?.type == .float }
    transformables = attributes.map {
      $0?.type == .transformable && AppleNames.isDefaultTransformer($0?.transformerName ?? "")
    }
  }

  /// The attribute, or the element of a composite attribute, at the end of a path.
  private static func attribute(
    _ path: String, of start: ResolvedEntity, in model: ResolvedModel
  ) -> AttributeDescription? {
    var entity = start
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for (index, key) in keys.enumerated() {
      guard let property = entity.property(key) else { return nil }
      guard let relationship = property.relationship else {
        return property.attribute?.element(at: keys.dropFirst(index + 1))
      }
      entity = model.entities[relationship.destination]
    }
    return nil
  }

  /// The slot that contains a column in its output form. The inner value is nil for the URI.
  private static func place(of name: String, on entity: ResolvedEntity) -> Slot?? {
    if name == id { return .some(nil) }
    guard let property = entity.property(name), !property.isTransient, !entity.isAdded(property.slot) else {
      return nil
    }
    switch property.kind {
    case .toMany: return nil
    case .attribute(let attribute) where attribute.type == .transformable: return nil
    case .toOne, .attribute: return property.slot
    }
  }

  /// The names in a list such as `name,-age`.
  ///
  /// Spaces around names are dropped.
  static func names(_ list: String) -> [String] {
    list.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The names of the values in an object's own row, beginning with the URI.
  private static func ownNames(of entity: ResolvedEntity, includesAdded: Bool) -> [String] {
    let attributes = entity.attributeSlots.map { entity.properties[$0] }.filter { !$0.isTransient }.map(\.name)
    let added = includesAdded ? entity.addedProperties.map(\.name) : []
    return [id] + attributes + added + entity.toOneSlots.map { entity.properties[$0].name }
  }

  /// The relationships of a path whose destinations must be read, or nil if there are none. The URI at the end of a
  /// to-one relationship is in the row of the source.
  private static func relationshipPath(
    of path: String, on start: ResolvedEntity, in model: ResolvedModel
  ) throws -> String? {
    var entity = start
    var followed: [String] = []
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for (index, key) in keys.enumerated() {
      if entity.fetchedProperties[key] != nil { break }
      if key.hasPrefix("@") {
        try model.check(keyPath: path, from: start)
        break
      }
      guard let property = entity.property(key) else {
        throw GraphError(
          .unknownName, message: entity.noProperty(key, or: followed.isEmpty ? [id] : []), entity: entity.name)
      }
      guard let relationship = property.relationship else {
        // The model does not describe the contents of a value, so `check` decides whether the rest of the path is
        // valid.
        if index < keys.count - 1 { try model.check(keyPath: path, from: start) }
        break
      }
      if case .toOne = property.kind, index == keys.count - 1 { break }
      followed.append(key)
      entity = model.entities[relationship.destination]
    }
    return followed.isEmpty ? nil : followed.joined(separator: ".")
  }
}
