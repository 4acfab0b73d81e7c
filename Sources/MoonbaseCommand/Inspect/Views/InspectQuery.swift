import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The parameters of a view of rows: an entity, a predicate, an order and a range.
///
/// Rows, counts, and the explanation of a query use the same parameters. They come from the address
/// of a GET request, such as `entity=Person&where=age > 3&sort=name&limit=50`.
struct InspectQuery {
  /// The maximum number of rows in an answer.
  static let greatestLimit = 500
  /// The request that the parameters describe.
  let request: FetchRequest
  /// The entity whose columns are shown.
  let entity: ResolvedEntity

  /// With `id`, the request finds one object. With `id` and `property`, it finds the destinations
  /// of a relationship.
  ///
  /// - Throws: `.unknownName` for the entity, the errors of the predicate parser, and an
  ///   `InspectRefusal` for a range that is not valid.
  init(_ query: [String: String], in session: InspectSession) throws {
    let object = try query["id"].map(session.object)
    let relationship = try object.flatMap { try Self.relationship(query["property"], of: $0) }
    entity = try relationship.map(session.model.destination) ?? object?.entity ?? session.entity(query["entity"])
    var request = FetchRequest(entity.name)
    request.predicate = try object.map { try Self.condition($0, relationship) }
    if let text = query["where"], !text.allSatisfy(\.isWhitespace) {
      request.predicate = try Predicate(format: text)
    }
    if let keys = query["sort"], !keys.isEmpty {
      request.sortDescriptors = FetchColumns.names(keys).map { SortDescriptor(text: $0) }
    }
    request.fetchOffset = try Self.number(query, "offset", otherwise: 0, 0...(.max))
    request.fetchLimit = try Self.number(query, "limit", otherwise: 100, 1...Self.greatestLimit)
    self.request = request
  }

  /// The relationship of an object, or nil if no name is given.
  ///
  /// - Throws: `.unknownName` for an attribute and for an unknown name.
  private static func relationship(_ name: String?, of object: ManagedObject) throws -> ResolvedRelationship? {
    guard let name else { return nil }
    guard let property = object.entity.property(name), let relationship = property.relationship else {
      throw GraphError.unknownProperty(name, of: object.entity, id: object.objectID)
    }
    return relationship
  }

  /// The predicate that finds an object, or the objects at the other end of one of its relationships.
  ///
  /// - Throws: An `InspectRefusal` for a relationship without an inverse.
  private static func condition(_ object: ManagedObject, _ relationship: ResolvedRelationship?) throws -> Predicate {
    let value = Expression.constant(.objectID(object.objectID))
    guard let relationship else { return .comparison(.init(.evaluatedObject, .equal, value)) }
    guard let inverse = relationship.description.inverseName else {
      throw InspectRefusal(400, "the relationship has no inverse: the store reads its keys alone")
    }
    return .comparison(.init(.keyPath(inverse), relationship.isInverseToMany ? .contains : .equal, value))
  }

  /// A number in the parameters.
  ///
  /// - Parameters:
  ///   - query: The parameters.
  ///   - name: The name of the parameter.
  ///   - otherwise: The value without the parameter.
  ///   - range: The allowed values.
  /// - Throws: An `InspectRefusal` with status 400.
  static func number(
    _ query: [String: String], _ name: String, otherwise: Int, _ range: ClosedRange<Int>
  ) throws -> Int {
    guard let text = query[name] else { return otherwise }
    guard let number = Int(text), range.contains(number) else {
      throw InspectRefusal(
        400, "\(name) is a number from \(range.lowerBound) to \(range.upperBound), not '\(text.prefix(40))'")
    }
    return number
  }

  /// A description of how the query is answered.
  ///
  /// It has the SQL statement and the query plan of SQLite.
  func explanation(in session: InspectSession) throws -> InspectJSON {
    ["text": .string(try session.context.explain(request))]
  }

  /// The number of all rows, without the range.
  func count(in session: InspectSession) throws -> InspectJSON {
    var all = request
    (all.fetchOffset, all.fetchLimit, all.sortDescriptors) = (0, 0, [])
    return ["count": .int(try session.context.count(all))]
  }
}
