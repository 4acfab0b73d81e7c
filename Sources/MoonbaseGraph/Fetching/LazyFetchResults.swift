public import MoonbaseModel

/// What a fetch finds that is no object, IDs or dictionaries: read some at a time as it is walked over, and let go again. `FetchedObjects` is the
/// same of objects.
///
/// ```swift
/// for row in try context.fetchedDictionaries(request) { print(row["name"]?.string ?? "") }
/// ```
///
/// Each walk is a fetch of its own, which begins with its iterator, and all that it gives is of one state of the store, whatever is saved
/// meanwhile. (Of a store that keeps no state while it is read, all is read at the beginning.) A walk that cannot go on ends, and the context
/// keeps the error among its pending ones; `forEachBatch` throws it. It belongs to its context, which it keeps, and to the context's executor.
public struct LazyFetchResults<Element>: Sequence {
  private let context: ManagedObjectContext
  private let begin: () throws -> () throws -> [Element]?

  init(_ context: ManagedObjectContext, _ begin: @escaping () throws -> () throws -> [Element]?) {
    (self.context, self.begin) = (context, begin)
  }

  /// Hands what is found to `body`, some at a time. Throws what the store throws, and what `body` does.
  public func forEachBatch(_ body: ([Element]) throws -> Void) throws {
    let next = try begin()
    while let batch = try next() { try body(batch) }
  }

  /// Begins a fetch.
  public func makeIterator() -> Iterator {
    do { return Iterator(context: context, batches: try begin()) } catch {
      context.keep(error)
      return Iterator(context: context, batches: nil)
    }
  }

  /// Goes through what is found.
  public struct Iterator: IteratorProtocol {
    fileprivate let context: ManagedObjectContext
    fileprivate var batches: (() throws -> [Element]?)?
    private var batch: ArraySlice<Element> = []

    fileprivate init(context: ManagedObjectContext, batches: (() throws -> [Element]?)?) {
      (self.context, self.batches) = (context, batches)
    }

    /// The next one; nil at the end, and where nothing more can be read.
    public mutating func next() -> Element? {
      while batch.isEmpty {
        guard let next = batches else { return nil }
        do {
          guard let found = try next() else {
            batches = nil
            return nil
          }
          batch = found[...]
        } catch {
          batches = nil
          context.keep(error)
        }
      }
      return batch.removeFirst()
    }
  }
}

extension ManagedObjectContext {
  /// The IDs of the objects that match a request, as they are walked over.
  ///
  /// Throws as `fetch` does for what does not fit the model.
  public func fetchedObjectIDs(_ request: FetchRequest) throws -> LazyFetchResults<ManagedObjectID> {
    _ = try request.checked(in: model)
    return LazyFetchResults(self) { try FetchPlan(request, in: self, isKept: true).idBatches() }
  }

  /// The batches of a walk over dictionaries, as they are asked for; nil at the end. The walk does not keep the context.
  package func dictionaryBatches(_ request: FetchRequest) throws -> () throws -> [[String: Value]]? {
    let walk = try DictionaryWalk(DictionaryRows(request, in: self, isKept: true))
    return { try walk.next() }
  }

  /// What `fetchDictionaries` gives, as it is walked over: what came before is let go. Groups, and values of all objects together, are there
  /// at once.
  ///
  /// Throws as `fetchDictionaries` does for what does not fit the model.
  public func fetchedDictionaries(_ request: FetchRequest) throws -> LazyFetchResults<[String: Value]> {
    _ = try DictionaryRows(request, in: self)
    return LazyFetchResults(self) {
      let walk = try DictionaryWalk(DictionaryRows(request, in: self, isKept: true))
      return { try walk.next() }
    }
  }
}
