import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

import enum MoonbaseModel.Expression

/// Finds the objects that did not change themselves, but from which a key path of a request leads through one that did: a store
/// would answer for them by what is saved.
final class RelatedChanges {
  /// A way is one step behind another, or behind the first object: paths that begin alike share their beginning.
  private struct Step: Hashable {
    let before: Int?
    let property: PropertyID
  }

  private struct Way {
    let before: Int?
    let last: ResolvedProperty
    let length: Int
    /// The objects that it leads to.
    let entities: Range<EntityIndex>
    /// What is read of them, by name; nil where that is not known.
    var names: Set<String>? = []
  }

  private static let wayBytes = 160

  private let context: ManagedObjectContext
  private var ways: OrderedDictionary<Step, Way> = [:]
  private var memory = HostMemory()

  init(_ request: FetchRequest, of entity: ResolvedEntity, in context: ManagedObjectContext) throws {
    self.context = context
    try request.predicate?.forEachKeyPath { path in try follow(path, from: entity, behind: nil) }
    for key in request.sortDescriptors {
      try follow(key.keyPath.split(separator: ".").map(String.init), from: entity, behind: nil)
    }
  }

  /// Whether no property of another object is read.
  var isEmpty: Bool { ways.isEmpty }

  /// The objects without unsaved changes of some entities for which it has to be looked anew.
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

  private func relationships(of way: Int) -> [ResolvedProperty] {
    var result: [ResolvedProperty] = []
    var place: Int? = way
    while let index = place {
      result.append(ways.values[index].last)
      place = ways.values[index].before
    }
    return result.reversed()
  }

  /// Notes each place of a path behind its first object where something is read.
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

  private func note(_ property: ResolvedProperty, behind way: Int?, to place: ResolvedEntity) throws -> Int {
    let step = Step(before: way, property: property.id)
    if let known = ways.index(forKey: step) { return known }
    try memory.hold(Self.wayBytes)
    ways[step] = Way(before: way, last: property, length: length(of: way) + 1, entities: place.subtree)
    return ways.count - 1
  }

  /// What is read at the end of a way. What is computed may read anything.
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

  private func length(of way: Int?) -> Int { way.map { ways.values[$0].length } ?? 0 }

  /// A store may compute what is derived, of what is saved.
  private func followInputs(
    of property: ResolvedProperty, entity: ResolvedEntity, way: Int?
  ) throws {
    // Attributes that are derived from each other in a circle end with an error when they are computed.
    guard length(of: way) < 8, case .derived(let derived) = try context.behavior(of: entity).kind(property.slot) else {
      return
    }
    for input in derived.inputs ?? [] where input.contains(".") {
      try follow(input.split(separator: ".").map(String.init), from: entity, behind: way)
    }
  }
}

extension ManagedObject {
  /// Whether any of these properties may be another one than in the store; of all where they are not known.
  fileprivate func differs(in names: Set<String>?) -> Bool {
    guard let names, !isInserted, !isDeleted, delayed.isEmpty else { return true }
    return names.contains { name in
      guard let slot = entity.property(name)?.slot else { return true }
      return changed.contains(slot) || relationships[slot]?.hasChanges == true
    }
  }
}
