import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// A model for predicates over a history, with entities for changes, their transactions, and tombstones of deleted
/// objects.
struct HistoryModel {
  private static let tombstone = "TOMBSTONE"

  private let model: ResolvedModel

  /// A tombstone may have each attribute that an entity of `model` preserves; entities may differ in the attribute's
  /// type.
  init(preservedBy model: ResolvedModel) throws {
    var types: [String: Set<AttributeType>] = [:]
    for attribute in model.entities.lazy.flatMap(\.properties).compactMap(\.attribute)
    where attribute.preservesValueInHistoryOnDeletion {
      types[attribute.name, default: []].insert(attribute.type)
    }
    self.model = try ManagedObjectModel {
      EntityDescription(PersistentHistoryTransaction.entityName) {
        ["author", "bundleID", "contextName", "processID", "storeID"].map { Self.attribute($0, .string) }
        Self.attribute("timestamp", .date)
        Self.attribute("transactionNumber", .integer64)
      }
      EntityDescription(PersistentHistoryChange.entityName) {
        Self.attribute("changedEntity", .string)
        Self.attribute("changedObjectID", .objectID)
        Self.attribute("changeID", .integer64)
        Self.attribute("changeType", .integer64)
        Self.attribute("updatedProperties", .undefined)
        RelationshipDescription.toOne("tombstone", destination: Self.tombstone)
        RelationshipDescription.toOne("transaction", destination: PersistentHistoryTransaction.entityName)
      }
      EntityDescription(Self.tombstone) {
        types.map { Self.attribute($0.key, $0.value.count == 1 ? $0.value.first ?? .undefined : .undefined) }
      }
    }.resolved()
  }

  /// Transient, because nothing is stored, so that any type is allowed.
  private static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
    AttributeDescription(name, type: type).with { $0.isTransient = true }
  }

  /// The predicate with literals converted to the types that they are compared with: texts compared with dates become
  /// dates, and URIs compared with `changedObjectID` become object IDs, by `id`.
  ///
  /// Throws `.unknownName` for an unknown key, `.predicateMismatch` for values that cannot be compared.
  func checked(
    _ predicate: Predicate, of entityName: String, id: (String) -> ManagedObjectID?
  ) throws -> Predicate {
    // First refuses predicates that are nested too deeply to be traversed.
    _ = try CompiledPredicate(predicate, nulls: .fetch)
    guard let entity = model.entity(entityName) else { throw GraphError.unknownEntity(entityName, in: model) }
    for path in predicate.keyPaths { try check(path, from: entity) }
    return try naming(predicate, id).checked(against: entity, in: model)
  }

  // MARK: Keys

  /// Throws for a key path with an unknown key.
  private func check(_ path: [String], from start: ResolvedEntity) throws {
    var entity = start
    for key in path {
      guard let property = entity.property(key) else { throw unknown(key, of: entity) }
      guard let relationship = property.relationship else { return }
      entity = model.entities[relationship.destination]
    }
  }

  private func unknown(_ key: String, of entity: ResolvedEntity) -> GraphError {
    let known = entity.properties.map(\.name).sorted()
    let subject: String
    var near = nearestName(to: key, among: known)
    switch entity.name {
    case PersistentHistoryTransaction.entityName: subject = "a transaction of a history"
    case Self.tombstone:
      subject = "a tombstone"
      guard !known.isEmpty else {
        return GraphError(
          .unknownName,
          message: "\(subject) has no \(key.asName): the model preserves no attribute of objects that are deleted")
      }
    default:
      subject = "a change of a history"
      let transaction = model.entity(PersistentHistoryTransaction.entityName)
      if transaction?.property(key) != nil { near = "transaction.\(key)" }
    }
    let hint = near.map { "; did you mean \($0)?" } ?? ""
    return GraphError(
      .unknownName, message: "\(subject) has no \(key.asName)\(hint) (there are \(known.listed(atMost: 20)))")
  }

  // MARK: Objects

  /// The predicate with object IDs in place of the URIs that are compared with `changedObjectID`.
  private func naming(_ predicate: Predicate, _ id: (String) -> ManagedObjectID?) throws -> Predicate {
    switch predicate {
    case .constant: return predicate
    case .and(let parts): return .and(try parts.map { try naming($0, id) })
    case .or(let parts): return .or(try parts.map { try naming($0, id) })
    case .not(let inner): return .not(try naming(inner, id))
    case .comparison(var comparison):
      let (left, right) = (comparison.left, comparison.right)
      if left == Self.changedObject { comparison.right = try object(right, id) }
      if right == Self.changedObject { comparison.left = try object(left, id) }
      return .comparison(comparison)
    }
  }

  private static let changedObject = Expression.keyPath(.evaluatedObject, ["changedObjectID"])

  /// The expression with object IDs in place of texts and URIs.
  private func object(_ expression: Expression, _ id: (String) -> ManagedObjectID?) throws -> Expression {
    switch expression {
    case .constant(.string(let text)): return .constant(.objectID(try object(text, id)))
    case .constant(.uri(let uri)): return .constant(.objectID(try object(uri.absoluteString, id)))
    case .constant(.list(let values)):
      return .aggregate(try values.map { try object(.constant($0), id) })
    case .aggregate(let elements): return .aggregate(try elements.map { try object($0, id) })
    default: return expression
    }
  }

  /// The object ID of a text. Throws `.predicateMismatch` if the text is no URI of an object.
  private func object(_ text: String, _ id: (String) -> ManagedObjectID?) throws -> ManagedObjectID {
    if let id = id(text) { return id }
    throw GraphError(
      .predicateMismatch,
      message:
        "changedObjectID is compared with \(text.asName), which is no URI of an object in a store that is open here")
  }
}
