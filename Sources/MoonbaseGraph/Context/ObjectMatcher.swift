import MoonbaseModel

import enum MoonbaseModel.Predicate

/// A predicate made ready for the objects of a context.
struct ObjectMatcher {
  private let compiled: CompiledPredicate

  /// Throws for unknown keys, impossible comparisons and variables without a value.
  init(_ predicate: Predicate, entity: ResolvedEntity, context: ManagedObjectContext) throws {
    let checked = try predicate.checked(against: entity, in: context.model)
    compiled = try CompiledPredicate(checked, entity: entity, in: context.model)
  }

  func matches(_ object: ManagedObject) throws -> Bool { try compiled.matches(object) }
}

/// A sort order made ready for the objects of a context.
struct ObjectSorter {
  private let compiled: CompiledSort

  init(_ keys: [SortDescriptor], entity: ResolvedEntity, context: ManagedObjectContext) throws {
    compiled = try CompiledSort(keys, entity: entity, in: context.model)
  }

  static func check(_ key: SortDescriptor, entity: ResolvedEntity, context: ManagedObjectContext) throws {
    try key.check(against: entity, in: context.model)
  }

  func sorted(_ objects: [ManagedObject]) throws -> [ManagedObject] { try compiled.sorted(objects) }
}
