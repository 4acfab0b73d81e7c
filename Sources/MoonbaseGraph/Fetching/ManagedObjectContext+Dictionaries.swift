public import MoonbaseModel
import MoonbasePlatform

/// The result of a request of any result type, read during iteration.
///
/// ```swift
/// var request = FetchRequest("Person")
/// request.resultType = .count
/// if case .count(let number) = try context.execute(request) { print(number) }
/// ```
/// A case for each `FetchRequest.resultType`.
public enum FetchResult {
  /// Managed objects.
  case objects(FetchedObjects)
  /// Object IDs.
  case objectIDs(LazyFetchResults<ManagedObjectID>)
  /// Values by column name.
  case dictionaries(LazyFetchResults<[String: Value]>)
  /// The number of objects that match.
  case count(Int)
}

extension ManagedObjectContext {
  /// Runs a request and returns the kind of result that its `resultType` specifies.
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

  /// Values instead of objects: a dictionary for each group, or for each object if the request has neither groups nor
  /// aggregates.
  ///
  /// The columns are the request's `propertiesToFetch`, or all attributes. `@count` of a key path skips nulls; `@sum`
  /// over no values is 0; `@avg`, `@min` and `@max` over no values are absent, as is every null. An aggregate beside
  /// plain columns without groups repeats its value in all rows. `havingPredicate` can use the columns of a group, the
  /// group keys, and functions over the group's objects. Only saved rows and values count, without unsaved changes.
  ///
  /// Throws as `fetch` does, for columns that do not fit the entity, and if the rows exceed the memory of the running
  /// script.
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
