import MoonbaseModel

/// The IDs or dictionaries that a fetch finds, read in batches during iteration and released afterwards.
/// `FetchedObjects` is the counterpart for objects.
///
/// ```swift
/// for row in try context.fetchedDictionaries(request) { print(row["name"]?.string ?? "") }
/// ```
///
/// Each iteration is a separate fetch that begins with its iterator and sees one state of the store, whatever is saved
/// meanwhile. (If the store keeps no state for reading, everything is read at the beginning.) An error ends the
/// iteration and is kept in the context's pending errors; `forEachBatch` throws it. The sequence retains its context
/// and is confined to the context's executor.
public struct LazyFetchResults<Element>: Sequence {
  /// The context of the fetch, which keeps errors of the iteration.
  private let context: ManagedObjectContext
  /// Begins a fetch, and returns the closure for its batches; that closure returns nil at the end.
  private let begin: () throws -> () throws -> [Element]?

  /// Makes a sequence whose fetches are begun by `begin`, once for each iteration.
  init(_ context: ManagedObjectContext, _ begin: @escaping () throws -> () throws -> [Element]?) {
    (self.context, self.begin) = (context, begin)
  }

  /// Passes the results to `body` in batches. Throws the errors of the store and of `body`.
  ///
  /// Batches are not empty. An error ends the fetch; batches that were already passed are not repeated.
  public func forEachBatch(_ body: ([Element]) throws -> Void) throws {
    let next = try begin()
    while let batch = try next() { try body(batch) }
  }

  /// Begins a fetch.
  ///
  /// Cannot throw: if the fetch cannot begin, the iterator is empty and the context keeps the error.
  public func makeIterator() -> Iterator {
    do { return Iterator(context: context, batches: try begin()) } catch {
      context.keep(error)
      return Iterator(context: context, batches: nil)
    }
  }

  /// Iterates over the results. A single pass: at the end, or after an error, the fetch is released.
  public struct Iterator: IteratorProtocol {
    /// The context that keeps errors.
    fileprivate let context: ManagedObjectContext
    /// The closure for the next batch; nil at the end and after an error.
    fileprivate var batches: (() throws -> [Element]?)?
    /// The results of the current batch that were not returned yet.
    private var batch: ArraySlice<Element> = []

    /// Makes an iterator over the batches of a fetch that has begun; `batches` is nil if it could not begin.
    fileprivate init(context: ManagedObjectContext, batches: (() throws -> [Element]?)?) {
      (self.context, self.batches) = (context, batches)
    }

    /// The next result; nil at the end, or after an error.
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
