import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

import enum MoonbaseModel.Expression

/// Finds the objects that did not change themselves, but from which a key path of a request leads through one that did: a store
/// would answer for them by what is saved.
struct RelatedChanges {
  private struct Way {
    let relationships: [ResolvedProperty]
    /// The objects that it leads to.
    let entities: Range<EntityIndex>
  }

  private let context: ManagedObjectContext
  private var ways: [Way] = []

  init(_ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext) throws {
    self.context = context
    let sortPaths = request.sortDescriptors.map { $0.keyPath.split(separator: ".").map(String.init) }
    for path in (request.predicate?.keyPaths ?? []) + sortPaths { try follow(path, from: entity, behind: []) }
  }

  /// Whether no property of another object is read.
  var isEmpty: Bool { ways.isEmpty }

  /// The objects without unsaved changes of some entities for which it has to be looked anew.
  func owners(_ entities: Range<EntityIndex>) throws -> OrderedSet<ManagedObject> {
    var result: OrderedSet<ManagedObject> = []
    for way in ways {
      let changed = context.changedObjects.filter { way.entities.contains($0.entity.index) }
      for owner in try context.owners(of: changed, along: way.relationships)
      where !owner.awaitsSave && entities.contains(owner.entity.index) { result.append(owner) }
    }
    return result
  }

  /// Notes each place of a path behind its first object where something is read.
  private mutating func follow(_ path: [String], from entity: ResolvedEntity, behind start: [ResolvedProperty]) throws {
    var (place, way) = (entity, start)
    for key in path where !key.hasPrefix("@") {
      guard let property = place.property(key) else { return }
      note(way, to: place)
      guard let relationship = property.relationship else {
        return try followInputs(of: property, entity: place, way: way)
      }
      way.append(property)
      place = context.model.destination(of: relationship)
    }
  }

  private mutating func note(_ way: [ResolvedProperty], to place: ResolvedEntity) {
    guard !way.isEmpty, !ways.contains(where: { $0.relationships.map(\.id) == way.map(\.id) }) else {
      return
    }
    ways.append(Way(relationships: way, entities: place.subtree))
  }

  /// A store may compute what is derived, of what is saved.
  private mutating func followInputs(
    of property: ResolvedProperty, entity: ResolvedEntity, way: [ResolvedProperty]
  ) throws {
    // Attributes that are derived from each other in a circle end with an error when they are computed.
    guard way.count < 8, case .derived(let derived) = try context.behavior(of: entity).kinds[property.slot] else {
      return
    }
    for input in derived.inputs ?? [] where input.contains(".") {
      try follow(input.split(separator: ".").map(String.init), from: entity, behind: way)
    }
  }
}
