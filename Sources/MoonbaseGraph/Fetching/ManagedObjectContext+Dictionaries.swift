public import MoonbaseModel
import MoonbasePlatform

/// What a request of any result type gives, read as it is walked over.
///
/// ```swift
/// var request = FetchRequest("Person")
/// request.resultType = .count
/// if case .count(let number) = try context.execute(request) { print(number) }
/// ```
public enum FetchResult {
  /// Managed objects.
  case objects(FetchedObjects)
  /// Object IDs.
  case objectIDs(LazyFetchResults<ManagedObjectID>)
  /// Values by column name.
  case dictionaries(LazyFetchResults<[String: Value]>)
  /// The number of matches.
  case count(Int)
}

extension ManagedObjectContext {
  /// Runs a request and returns what its `resultType` says.
  ///
  /// Throws as `fetchedObjects`, `fetchedObjectIDs`, `fetchedDictionaries` and `count` do.
  public func execute(_ request: FetchRequest) throws -> FetchResult {
    switch request.resultType {
    case .objects: .objects(try fetchedObjects(request))
    case .objectIDs: .objectIDs(try fetchedObjectIDs(request))
    case .dictionaries: .dictionaries(try fetchedDictionaries(request))
    case .count: .count(try count(request))
    }
  }

  /// Values instead of objects: a dictionary for each group, or for each object where nothing is grouped or aggregated.
  ///
  /// The columns are the request's `propertiesToFetch`, or all attributes. `@count` of a key path skips missing values; `@sum`
  /// of nothing is 0; `@avg`, `@min` and `@max` of nothing are absent, as is every missing value. An aggregate beside plain
  /// columns that are not grouped repeats its value in all rows. `havingPredicate` sees the columns of a group, the keys that
  /// make the groups, and functions over the objects of one. Rows and values are those that are saved: no unsaved change counts.
  public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: Value]] {
    let rows = try DictionaryRows(request, in: self)
    var result: [[String: Value]] = []
    var memory = HostMemory()
    try rows.forEach { values in
      try memory.hold(64 + values.reduce(64 * values.count) { $0 + $1.weight })
      result.append(rows.dictionary(values))
    }
    return result
  }
}
