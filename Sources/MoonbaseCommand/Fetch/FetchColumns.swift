import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The columns of a fetch: key paths, and the object's URI.
struct FetchColumns {
  /// The column of the object's URI.
  static let id = "_id"

  let names: [String]
  /// What the columns lead through, to be read along.
  let relationshipPaths: [String]
  /// Where a row has the columns as they are written, nil for the URI; nothing where some take an object: a path, a to-many relationship, what an
  /// extension or a transformer makes.
  let slots: [Slot?]?
  /// Which columns are of single precision.
  let floats: [Bool]
  /// Which columns hold what the default transformer keeps: any value.
  let transformables: [Bool]

  /// The columns of these names. Without names, the columns are the values in an object's own row, and with
  /// `includesAdded` also the attributes that extensions add.
  ///
  /// Throws for an unknown entity or name, before anything is fetched.
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

  /// The attribute, or the element of a composite, that a path ends at.
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

  /// Where a row has a column as it is written; nil inside for the URI.
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

  /// `name,-age` as names.
  static func names(_ list: String) -> [String] {
    list.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  private static func ownNames(of entity: ResolvedEntity, includesAdded: Bool) -> [String] {
    let attributes = entity.attributeSlots.map { entity.properties[$0] }.filter { !$0.isTransient }.map(\.name)
    let added = includesAdded ? entity.addedProperties.map(\.name) : []
    return [id] + attributes + added + entity.toOneSlots.map { entity.properties[$0].name }
  }

  /// The relationships of a path whose destinations are read for it; nil where there are none. The URI at the end of a to-one relationship
  /// is in the row that leads there.
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
        // What is inside of a value no model says; other values have no keys.
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
