import MoonbaseGraph
import MoonbaseModel

/// The objects whose values a sorted fetch and its sections read, and whose changes may therefore change the result.
struct FollowedPaths {
  /// The entities whose objects are read; nil if any object may be read.
  private(set) var entities: [Range<EntityIndex>]?
  /// Whether only each object's own values are read, so that its change does not move other objects.
  private(set) var areOwn = true

  init(_ request: FetchRequest, sectionPath: String?, in context: ManagedObjectContext) throws {
    let entity = try context.entity(request.entityName)
    let range = entity.indexes(includingSubentities: request.includesSubentities)
    entities = [range]
    // With a limit, an offset or only saved values, the result also depends on unchanged objects.
    if request.fetchLimit > 0 || request.fetchOffset > 0 { areOwn = false }
    if !request.includesPendingChanges { (areOwn, entities) = (false, nil) }
    try request.predicate?.forEachKeyPath { try follow($0, from: entity, range, in: context) }
    for key in request.sortDescriptors.map(\.keyPath) + (sectionPath.map { [$0] } ?? []) {
      try follow(key.split(separator: ".").map(String.init), from: entity, range, in: context)
    }
  }

  /// Records the entities whose objects a key path reads.
  private mutating func follow(
    _ path: [String], from entity: ResolvedEntity, _ range: Range<EntityIndex>, in context: ManagedObjectContext
  ) throws {
    var (place, range) = (entity, range)
    for key in path where !key.hasPrefix("@") {
      guard key != "objectID" else { return }
      guard let property = place.property(key) else { return readAnything() }
      let isKnown = try range.allSatisfy { index in
        let behavior = try context.behavior(of: context.model.entities[index])
        if case .toMany = behavior.kind(property.slot) { return behavior.accessors[property.slot] == nil }
        return behavior.isStoredAsIs(property.slot) || behavior.isOfOwnValues(property.slot)
      }
      guard isKnown else { return readAnything() }
      guard let relationship = property.relationship else { return }
      if relationship.isToMany || path.count > 1 { areOwn = false }
      place = context.model.destination(of: relationship)
      range = place.subtree
      if relationship.isToMany || path.count > 1 { entities?.append(range) }
    }
  }

  /// Records that any object may be read.
  private mutating func readAnything() { (areOwn, entities) = (false, nil) }

  /// Whether a change of an object may change the result.
  func concern(_ id: ManagedObjectID, in model: ResolvedModel) -> Bool {
    guard let entities else { return true }
    guard let index = model.entity(of: id)?.index else { return false }
    return entities.contains { $0.contains(index) }
  }
}
