import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

import enum MoonbaseModel.Expression

/// Finds unchanged objects from which a key path of a request passes through a changed object. A store would evaluate
/// the path for these with saved values. For example, with the condition `department.name == "R&D"` and a renamed
/// department, these are the people of the department.
final class RelatedChanges {
  /// A way is a step after another way or after the first object, so paths with the same beginning share it.
  private struct Step: Hashable {
    /// The index of the preceding way; nil after the first object.
    let before: Int?
    /// The relationship of the step.
    let property: PropertyID
  }

  /// A path of relationships from the first object, with the properties that are read at its end.
  private struct Way {
    /// The index of the preceding way.
    let before: Int?
    /// The last relationship of the way.
    let last: ResolvedProperty
    /// The number of relationships.
    let length: Int
    /// The entities at the end of the way.
    let entities: Range<EntityIndex>
    /// The names of the properties that are read there; nil if unknown.
    var names: Set<String>? = []
  }

  /// The estimated bytes of a way.
  private static let wayBytes = 160

  /// The context with the changes.
  private let context: ManagedObjectContext
  /// The ways that the request reads, in order of their first use.
  private var ways: OrderedDictionary<Step, Way> = [:]
  /// The account for the ways.
  private var memory = HostMemory()

  /// Collects the paths of the predicate and of the sort descriptors. `entity` is the entity of the request.
  init(_ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext) throws {
    self.context = context
    try request.predicate?.forEachKeyPath { path in try follow(path, from: entity, behind: nil) }
    for key in request.sortDescriptors {
      try follow(key.keyPath.split(separator: ".").map(String.init), from: entity, behind: nil)
    }
  }

  /// Whether the request reads no property of related objects.
  var isEmpty: Bool { ways.isEmpty }

  /// The objects of some entities without unsaved changes that must be evaluated in memory. Walks the relationships
  /// back from the changed objects. The complexity is the number of changes times the number of ways, plus the owners
  /// found.
  func owners(_ entities: Range<EntityIndex>) throws -> OrderedSet<ManagedObject> {
    var result: OrderedSet<ManagedObject> = []
    for (index, way) in ways.values.enumerated() {
      try HostWork.charge(context.changedObjects.count + way.length)
      let changed = context.changedObjects.filter {
        way.entities.contains($0.entity.index) && $0.differs(in: way.names)
      }
      if changed.isEmpty { continue }
      for owner in try context.owners(of: changed, along: relationships(of: index))
      where !owner.awaitsSave && entities.contains(owner.entity.index) { result.append(owner) }
    }
    return result
  }

  /// The relationships of a way, from its beginning to its end.
  private func relationships(of way: Int) -> [ResolvedProperty] {
    var result: [ResolvedProperty] = []
    var place: Int? = way
    while let index = place {
      result.append(ways.values[index].last)
      place = ways.values[index].before
    }
    return result.reversed()
  }

  /// Records the properties that a path reads behind its first object. Aggregates (`@count`) are skipped. An unknown
  /// key ends the path.
  private func follow(_ path: [String], from entity: ResolvedEntity, behind start: Int?) throws {
    var (place, way) = (entity, start)
    var last: ResolvedProperty?
    for key in path where !key.hasPrefix("@") {
      try HostWork.charge()
      guard let property = place.property(key) else { return }
      if let last { way = try note(last, behind: way, to: place) }
      if let way { try noteRead(property, of: place, at: way) }
      guard let relationship = property.relationship else {
        return try followInputs(of: property, entity: place, way: way)
      }
      last = property
      place = context.model.destination(of: relationship)
    }
  }

  /// The index of the way that follows `way` by a property; adds it if it is new. Throws if the memory of the run is
  /// used up.
  private func note(_ property: ResolvedProperty, behind way: Int?, to place: ResolvedEntity) throws -> Int {
    let step = Step(before: way, property: property.id)
    if let known = ways.index(forKey: step) { return known }
    try memory.hold(Self.wayBytes)
    ways[step] = Way(before: way, last: property, length: length(of: way) + 1, entities: place.subtree)
    return ways.count - 1
  }

  /// Records the property at the end of a way. A computed property may read any other property. Then any change of the
  /// object counts.
  private func noteRead(_ property: ResolvedProperty, of place: ResolvedEntity, at way: Int) throws {
    guard ways.values[way].names?.contains(property.name) == false else { return }
    try HostWork.charge(place.subtree.count >> 2)
    let isStored = try place.subtree.allSatisfy { index -> Bool in
      let behavior = try context.behavior(of: context.model.entities[index])
      if behavior.accessors[property.slot] != nil { return false }
      switch behavior.kind(property.slot) {
      case .plain, .opaque, .toOne, .toMany: return true
      case .transformable, .storedTransformable, .derived, .stored, .gone: return false
      }
    }
    if isStored { ways.values[way].names?.insert(property.name) } else { ways.values[way].names = nil }
  }

  /// The number of relationships of a way; 0 for nil.
  private func length(of way: Int?) -> Int { way.map { ways.values[$0].length } ?? 0 }

  /// Follows the inputs of a derived attribute, since a store may compute it from saved values. Inputs without a
  /// relationship belong to the same object, and do not need a way.
  private func followInputs(
    of property: ResolvedProperty, entity: ResolvedEntity, way: Int?
  ) throws {
    // The limit guards against circular derivations, which cause an error when they are computed.
    guard length(of: way) < 8, case .derived(let derived) = try context.behavior(of: entity).kind(property.slot) else {
      return
    }
    for input in derived.inputs ?? [] where input.contains(".") {
      try follow(input.split(separator: ".").map(String.init), from: entity, behind: way)
    }
  }
}

extension ManagedObject {
  /// Whether any of these properties may differ from the store; if the names are unknown, whether any property may.
  /// Also true for new and deleted objects and for delayed values.
  fileprivate func differs(in names: Set<String>?) -> Bool {
    guard let names, !isInserted, !isDeleted, delayed.isEmpty else { return true }
    return names.contains { name in
      guard let slot = entity.property(name)?.slot else { return true }
      return changed.contains(slot) || relationships[slot]?.hasChanges == true
    }
  }
}
