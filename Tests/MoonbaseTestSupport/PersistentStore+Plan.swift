public import MoonbaseGraph
public import MoonbaseModel

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

extension PersistentStore {
  /// Whether the store can evaluate a condition in place of the query's own.
  public func canEvaluate(_ predicate: Predicate, for query: StoreQuery) throws -> Bool {
    var query = query
    query.predicate = predicate
    return try plan(query).isComplete
  }

  /// Whether the store can sort by a key after those of a query.
  public func canSort(by key: SortDescriptor, for query: StoreQuery) throws -> Bool {
    var query = query
    query.sortDescriptors.append(key)
    return try plan(query).isComplete
  }
}
