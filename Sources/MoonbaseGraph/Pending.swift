import MoonbaseModel
struct ObjectMatcher {
  init(_ p: Predicate, entity: ResolvedEntity, context: ManagedObjectContext) throws {}
  func matches(_ o: ManagedObject) throws -> Bool { true }
}
struct ObjectSorter {
  init(_ p: [SortDescriptor], entity: ResolvedEntity, context: ManagedObjectContext) throws {}
  static func check(_ key: SortDescriptor, entity: ResolvedEntity, context: ManagedObjectContext) throws {}
  func sorted(_ o: [ManagedObject]) throws -> [ManagedObject] { o }
}
