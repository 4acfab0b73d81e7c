import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A page of rows. Large values are not read for it, and their sizes come from the file.
///
/// Each row has the ID, the state and the cells. It is created for each request.
struct InspectRows {
  /// The number of columns if none are selected.
  private static let usualColumns = 12
  /// The maximum total size of the binary values in a row. Larger values are not read.
  private static let greatestRow = 1 << 20
  /// The session whose objects are shown.
  private let session: InspectSession
  /// The entity whose columns are shown. The objects may be of subentities.
  private let entity: ResolvedEntity
  /// The names of the columns.
  private let names: [String]
  /// Converts the values.
  private let cell: InspectCell

  /// Selects the columns, and checks their names.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - entity: The entity of the rows.
  ///   - columns: The names, separated by commas, or nil for the default columns.
  init(_ session: InspectSession, _ entity: ResolvedEntity, columns: String?) throws {
    (self.session, self.entity) = (session, entity)
    names = (columns.flatMap { $0.isEmpty ? nil : FetchColumns.names($0) }) ?? Self.usual(of: entity)
    // Check the names. Unknown names cause an error.
    _ = try FetchColumns(names, of: entity.name, in: session.model)
    cell = InspectCell(session: session)
  }

  /// The default columns. The attribute that identifies an object for users is the first.
  ///
  /// At most twelve columns are selected, with up to three to-one relationships at the end.
  private static func usual(of entity: ResolvedEntity) -> [String] {
    let label = InspectObject.labelProperty(of: entity)
    let all = entity.allProperties.filter { $0.slot != label?.slot }
    let attributes = all.filter { $0.attribute != nil }
    let toOne = all.filter { $0.relationship?.isToMany == false }
    let columns = [label].compactMap(\.self) + attributes.prefix(usualColumns - 1 - min(3, toOne.count)) + toOne
    return columns.prefix(usualColumns).map(\.name)
  }

  /// The rows of a query.
  ///
  /// - Parameter query: The query with its range.
  func json(_ query: InspectQuery) throws -> InspectJSON { try json(ids: session.pages.ids(query.request)) }

  /// The rows of some objects.
  ///
  /// - Parameter ids: The objects of the page, in their order.
  func json(ids: [ManagedObjectID]) throws -> InspectJSON {
    ["columns": .array(names.map(column)), "rows": .array(try rows(ids))]
  }

  /// The heading of a column: its name, its type and whether rows can be sorted by it.
  private func column(_ name: String) -> InspectJSON {
    let property = entity.property(name)
    return [
      "name": .string(name), "type": .string(property.map(InspectModel.type) ?? ""),
      "sortable": .bool(
        property.map { $0.relationship == nil && $0.attributeType != .transformable && $0.attributeType != .binaryData }
          ?? false),
    ]
  }

  /// Loads the objects together. Rows with large values are not loaded.
  private func rows(_ ids: [ManagedObjectID]) throws -> [InspectJSON] {
    let facts = (try? StoredFacts(session).facts(of: ids, StoredFacts.large)) ?? [:]
    let large = Set(ids.filter { id in (facts[id] ?? [:]).values.reduce(0) { $0 + $1.length } > Self.greatestRow })
    let loaded = try session.context.loadObjects(with: ids.filter { !large.contains($0) })
    let objects = Dictionary(loaded.map { ($0.objectID, $0) }) { first, _ in first }
    return try ids.compactMap { id in
      let known = objects[id] ?? session.context.registeredObject(for: id).flatMap { $0.isFault ? nil : $0 }
      if let object = known { return row(id, object, facts[id] ?? [:]) }
      return large.contains(id) ? try row(id, facts[id] ?? [:]) : nil
    }
  }

  /// The row of a loaded object. A value that cannot be read is replaced by its error.
  private func row(_ id: ManagedObjectID, _ object: ManagedObject, _ facts: [String: StoredFacts.Fact]) -> InspectJSON {
    let cells = names.map { name -> InspectJSON in
      do { return try value(name, of: object, facts[name]) } catch { return InspectCell.failure(error) }
    }
    return head(id).adding([("state", .text(InspectObject.state(of: object))), ("cells", .array(cells))])
  }

  /// The members that every row has. The entity is only given if it differs from the entity of the
  /// columns.
  private func head(_ id: ManagedObjectID) -> InspectJSON {
    ["id": .string(session.name(of: id)), "entity": id.entityName == entity.name ? .null : .string(id.entityName)]
  }

  /// The cell of a column. The value of a binary attribute in a separate file is not read.
  private func value(_ name: String, of object: ManagedObject, _ fact: StoredFacts.Fact?) throws -> InspectJSON {
    if name == FetchColumns.id { return ["id": .string(session.name(of: object.objectID))] }
    if let property = object.entity.property(name) {
      if property.relationship?.isToMany == true { return ["count": .int(try object.memberCount(property.slot))] }
      if property.attributeType == .binaryData, let fact, fact.isInFile, !object.hasChanges { return ["file": true] }
    }
    return try cell.json(try object.value(forKeyPath: name), of: object.entity.property(name)?.attributeType)
  }

  // MARK: Rows that are not read whole

  /// A row with large values. Only the other columns are read.
  ///
  /// - Parameters:
  ///   - id: The object.
  ///   - facts: The types and sizes of the large values.
  private func row(_ id: ManagedObjectID, _ facts: [String: StoredFacts.Fact]) throws -> InspectJSON {
    let plain = names.filter { name in
      guard let property = entity.property(name), !entity.isAdded(property.slot) else { return false }
      return property.attribute != nil && facts[name] == nil && !property.isTransient
    }
    let values = try plainValues(plain, of: id)
    let cells = try names.map { name -> InspectJSON in
      if let fact = facts[name] { return Self.cell(fact) }
      if name == FetchColumns.id { return ["id": .string(session.name(of: id))] }
      if plain.contains(name) { return try cell.json(values[name] ?? .null, of: entity.property(name)?.attributeType) }
      return ["unread": true]
    }
    return head(id).adding([("state", .null), ("cells", .array(cells))])
  }

  /// The cell of a value that is not read.
  ///
  /// - Parameter fact: The facts from the file.
  static func cell(_ fact: StoredFacts.Fact) -> InspectJSON {
    if fact.type == "null" { return .null }
    if fact.isInFile { return ["file": true] }
    // If a value may be in a separate file, its first byte says where the value is.
    let beginning = Array(fact.beginning ?? Data())
    let isMarked = beginning.first == 1 && ImageForm(Array(beginning.dropFirst())) != nil
    return InspectCell.bytes(
      count: fact.length - (isMarked ? 1 : 0), beginning: Array(beginning.dropFirst(isMarked ? 1 : 0)))
  }

  /// Reads some attributes of an object with a request for dictionaries, so that SQLite does not
  /// read the large columns.
  private func plainValues(_ names: [String], of id: ManagedObjectID) throws -> [String: Value] {
    guard !names.isEmpty else { return [:] }
    var request = FetchRequest(
      id.entityName, where: .comparison(.init(.evaluatedObject, .equal, .constant(.objectID(id)))))
    request.resultType = .dictionaries
    request.propertiesToFetch = names.map { FetchColumn($0) }
    return try session.context.fetchDictionaries(request).first ?? [:]
  }
}
