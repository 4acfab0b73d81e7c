import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Destinations of the rows of stores that Core Data wrote.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealRelationshipTests {
  /// Notes stores these relationships in one of the two rows only.
  private static let oneSided: Set<String> = ["cloudSyncingObject", "cloudState"]

  @Test(arguments: RealStores.all) func everyRelationshipOfEveryRowLeadsWherePlainSQLDoes(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
    let columns = try PlainColumns(model, in: RawDatabase(url))
    for entity in store.entities where !entity.isAbstract {
      let rows = try store.snapshots(matching: StoreQuery(entity: entity, in: model, includesSubentities: false))
      for property in entity.properties where property.relationship != nil && !property.isTransient {
        for row in rows {
          let found = try destinations(property, of: row, in: store)
          let isOrdered = property.relationship?.isOrdered == true
          let keys = isOrdered ? found.map(\.key) : found.map(\.key).sorted()
          let what: Comment = "\(entity.name).\(property.name) of \(row.id.key)"
          #expect(try keys.map(String.init) == columns.destinations(property, of: row.id.key, entity), what)
          try expectEntities(of: found, property, columns, what)
        }
      }
    }
  }

  /// Expects each destination to have the entity of its own row.
  private func expectEntities(
    of ids: [ManagedObjectID], _ property: ResolvedProperty, _ columns: PlainColumns, _ what: Comment
  ) throws {
    guard let relationship = property.relationship else { return }
    let destination = columns.model.entities[relationship.destination]
    let numbers = try columns.numbers(of: ids.map(\.key), in: destination)
    #expect(try ids.map { try columns.number(of: columns.model.entity($0.entityName)!) } == numbers, what)
  }

  @Test(arguments: RealStores.all) func everyRelationshipLeadsBack(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model, options: .init(readOnly: true)))
    let context = try ManagedObjectContext(coordinator)
    for entity in model.entities where entity.parent == nil {
      for object in try context.fetch(FetchRequest(entity.name)) {
        for property in object.entity.properties {
          guard let relationship = property.relationship, let slot = relationship.inverseSlot else { continue }
          if Self.oneSided.contains(property.name) { continue }
          let inverse = model.entities[relationship.destination].properties[slot]
          for destination in try Self.objects(property, of: object) {
            let back = try Self.objects(inverse, of: destination)
            #expect(back.contains { $0 === object }, "\(object.objectID).\(property.name)")
          }
        }
      }
    }
  }

  private static func objects(_ property: ResolvedProperty, of object: ManagedObject) throws -> [ManagedObject] {
    if property.relationship?.isToMany == true { return Array(try object.objects(forKey: property.name)) }
    return [try object.object(forKey: property.name)].compactMap { $0 }
  }

  private func destinations(
    _ property: ResolvedProperty, of row: Snapshot, in store: SQLiteStore
  ) throws -> [ManagedObjectID] {
    if property.relationship?.isToMany == true {
      return try store.destinations(of: row.id, relationship: property.slot)
    }
    if case .objectID(let id) = row.values[property.slot] { return [id] }
    return []
  }
}
