import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// An object with all its properties. For each property, it has the value and the stored form.
///
/// It answers the route for one object, and is created for each request. A property that cannot be
/// read has its error in the place of the value, so that the rest of the object can be shown.
struct InspectObject {
  /// The maximum size of a value in this view. Larger values have a route of their own.
  private static let greatestRead = 1 << 20
  /// The session of the object.
  private let session: InspectSession
  /// The object to show.
  private let object: ManagedObject
  /// Describes the properties.
  private let model: InspectModel
  /// The facts of values in the file, by property.
  private let facts: [String: StoredFacts.Fact]
  /// Converts values. Texts are cut at a higher limit than in lists.
  private let cell: InspectCell
  /// The names of the properties with unsaved changes.
  private let changed: Set<String>

  /// Reads the facts from the file, and does not yet read values.
  init(_ object: ManagedObject, _ session: InspectSession) throws {
    (self.object, self.session) = (object, session)
    model = InspectModel(session: session)
    cell = InspectCell(session: session, isWhole: true)
    changed = Set(object.hasChanges ? ((try? object.changedValues()) ?? [:]).keys : [:].keys)
    let id = object.objectID
    facts = ((try? StoredFacts(session).facts(of: [id], StoredFacts.converted)) ?? [:])[id] ?? [:]
  }

  /// The state for the page: `deleted`, `new` or `changed`. Nil for an object without unsaved
  /// changes.
  static func state(of object: ManagedObject) -> String? {
    if object.isDeleted { return "deleted" }
    if object.isInserted { return "new" }
    return object.hasChanges ? "changed" : nil
  }

  /// The object with its names, its state, its problems and its properties.
  func json() throws -> InspectJSON {
    let problems = object.hasChanges && !object.isDeleted ? Self.problems(of: object, session) : []
    let id = object.objectID
    return [
      "id": .string(session.name(of: id)), "entity": .string(object.entity.name),
      "short": .string(id.nameForPeople), "uri": id.isTemporaryID ? .null : .string(id.uriRepresentation),
      "label": .text(try? Self.label(of: object)), "state": .text(Self.state(of: object)),
      "properties": .array(object.entity.allProperties.map(property)),
      "fetched": .strings(object.entity.fetchedProperties.keys.sorted()), "problems": .array(problems),
    ]
  }

  /// The violations of rules by the current values of the object.
  ///
  /// An object without changes is not validated, because its stored values were valid when they
  /// were saved.
  static func problems(of object: ManagedObject, _ session: InspectSession) -> [InspectJSON] {
    do {
      try object.validate()
      return []
    } catch let error as GraphError {
      return InspectFailure.problems(of: error, in: session)
    } catch {
      return []
    }
  }

  /// A property with its value, its stored form and whether it is changed.
  private func property(_ property: ResolvedProperty) -> InspectJSON {
    var members: [(String, InspectJSON)] = []
    do {
      members.append(("value", try value(property)))
    } catch {
      members.append(("value", InspectCell.failure(error)))
    }
    if let stored = stored(property) { members.append(("stored", stored)) }
    return model.property(property, of: object.entity).adding(
      members + [("changed", .bool(changed.contains(property.name)))])
  }

  /// The value of a property. A to-many relationship has only the number of its members, and a
  /// to-one relationship has the ID and the label of its destination.
  private func value(_ property: ResolvedProperty) throws -> InspectJSON {
    switch property.kind {
    case .toMany: return ["count": .int(try object.memberCount(property.slot))]
    case .toOne:
      let value = try object.value(at: property.slot)
      guard case .objectID(let id) = value else { return .null }
      return ["id": .string(session.name(of: id)), "label": .text(try? label(of: id))]
    case .attribute(let attribute):
      if attribute.type == .binaryData, !object.hasChanges, let fact = facts[property.name],
        fact.isInFile || fact.length > Self.greatestRead
      {
        return InspectRows.cell(fact)
      }
      return try cell.json(try object.value(at: property.slot), of: attribute.type)
    }
  }

  /// The stored form of a value if it differs from the value. For a derived attribute, this is the stored copy.
  ///
  /// Returns nil for a relationship, and for a text or a number, because their stored form is the
  /// same.
  private func stored(_ property: ResolvedProperty) -> InspectJSON? {
    if let derived = model.derived(property.name, of: object.entity), let shadow = derived.shadow {
      let value = (try? object.value(forKey: shadow)).flatMap { try? cell.json($0) }
      return value.map { ["of": .string(shadow), "value": $0] }
    }
    guard let fact = facts[property.name], fact.type != "null" else { return nil }
    switch property.attributeType {
    case .transformable, .uuid: break
    case .date, .decimal, .uri, .binaryData: if fact.type != "blob" { return nil }
    default: return nil
    }
    if property.attributeType == .binaryData, !fact.isInFile { return nil }
    return [
      "type": .string(fact.type), "length": .int(fact.length),
      "value": fact.beginning.map { InspectCell.bytes($0) } ?? .null,
    ]
  }

  // MARK: Labels

  /// The label of an object by its ID, or nil if the object does not exist or has no label.
  private func label(of id: ManagedObjectID) throws -> String? {
    try session.context.existingObject(with: id).flatMap(Self.label)
  }

  /// A text that identifies an object for users.
  ///
  /// Long texts are cut after 80 characters.
  ///
  /// - Returns: The label, or nil if the object has none.
  static func label(of object: ManagedObject) throws -> String? {
    guard let named = labelProperty(of: object.entity), case .string(let text) = try object.value(at: named.slot) else {
      return nil
    }
    return text.count > 80 ? text.prefix(80) + "…" : text
  }

  /// The property for the label. This is the name or the title, otherwise the first text.
  ///
  /// - Parameter entity: The entity, whose inherited attributes count too.
  /// - Returns: Nil if the entity has no text.
  static func labelProperty(of entity: ResolvedEntity) -> ResolvedProperty? {
    let texts = entity.properties.filter { $0.attributeType == .string && !$0.isTransient }
    let preferred = ["name", "title", "label", "fullName", "lastName", "email"]
    return preferred.lazy.compactMap { name in texts.first { $0.name == name } }.first ?? texts.first
  }

  // MARK: Members

  /// A page of the destinations of a relationship, or of the objects of a fetched property.
  ///
  /// - Parameters:
  ///   - name: The name of a relationship or a fetched property.
  ///   - query: The parameters `offset`, `limit` and `columns`.
  func members(_ name: String, _ query: [String: String]) throws -> InspectJSON {
    let offset = try InspectQuery.number(query, "offset", otherwise: 0, 0...(.max))
    let limit = try InspectQuery.number(query, "limit", otherwise: 50, 1...InspectQuery.greatestLimit)
    let (ids, entity) = try memberIDs(name)
    let page = Array(ids.dropFirst(offset).prefix(limit))
    let rows = try InspectRows(session, entity, columns: query["columns"])
    return try rows.json(ids: page).adding([
      ("entity", .string(entity.name)), ("total", .int(ids.count)), ("offset", .int(offset)),
    ])
  }

  /// The IDs of the members, and the entity whose columns are shown.
  ///
  /// - Throws: `.unknownName` if the entity has no such property.
  private func memberIDs(_ name: String) throws -> ([ManagedObjectID], ResolvedEntity) {
    if let property = object.entity.property(name), let relationship = property.relationship {
      let destination = session.model.destination(of: relationship)
      if relationship.isToMany { return (try object.memberIDs(property.slot), destination) }
      guard case .objectID(let id) = try object.value(at: property.slot) else { return ([], destination) }
      return ([id], destination)
    }
    if let fetched = object.entity.fetchedProperties[name], case .list(let list) = try object.value(forKey: name) {
      return (list.compactMap(\.objectID), try session.entity(fetched.fetchRequest.entityName))
    }
    throw GraphError.unknownProperty(name, of: object.entity, id: object.objectID)
  }
}
