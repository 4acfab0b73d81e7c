import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

/// The IDs in pages of rows. A store reads all rows before a page to skip them, so the second half of an entity is read
/// from its end. If a page takes long to read, the IDs of all pages are kept until something changes.
///
/// The session owns the only instance, and it is used on the session's thread. Kept IDs are valid
/// as long as the request is the same and no file of the stores was written.
final class InspectPages {
  /// The time limit for reading a page, in seconds.
  private static let patience = 0.04
  /// Up to this number, rows are skipped directly.
  private static let fewRows = 5_000

  /// Shows whether a file was written.
  private struct Stamp: Equatable {
    /// The size in bytes.
    let size: Int64
    /// The time of the last write, in seconds.
    let seconds: Int
    /// The fraction of the time, in nanoseconds.
    let nanoseconds: Int

    /// Returns nil if the file does not exist.
    init?(_ path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      size = Int64(facts.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec)
      #else
        (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
      #endif
    }
  }

  /// The owner of this object.
  private unowned let session: InspectSession
  /// The request without its range whose last page was slow to read.
  private var slow: FetchRequest?
  /// The IDs of all pages, with the request and the files that they belong to.
  private var kept: (request: FetchRequest, stamps: [Stamp?], ids: IDList)?

  /// Creates an object without kept IDs.
  ///
  /// - Parameter session: The owner.
  init(_ session: InspectSession) { self.session = session }

  /// The context of the session.
  private var context: ManagedObjectContext { session.context }

  /// The IDs of a page. With unsaved changes, they are always read from the context.
  ///
  /// - Parameter request: A request with an offset and a limit.
  func ids(_ request: FetchRequest) throws -> [ManagedObjectID] {
    guard !context.hasChanges else { return try context.fetchIDs(request) }
    if let ids = try keptIDs(request) ?? idsFromEnd(request) { return ids }
    let began = Date()
    let ids = try context.fetchIDs(request)
    slow = Date().timeIntervalSince(began) > Self.patience ? request.whole : nil
    return ids
  }

  // MARK: Kept IDs

  /// The stamps of the file and the log of each store.
  private var stamps: [Stamp?] {
    context.coordinator.persistentStores.compactMap(\.url).flatMap { [Stamp($0.path), Stamp($0.path + "-wal")] }
  }

  /// The page from the kept IDs. The IDs are read now if the last page of this request was slow.
  /// Returns nil if IDs are not kept.
  private func keptIDs(_ request: FetchRequest) throws -> [ManagedObjectID]? {
    let (all, stamps) = (request.whole, stamps)
    if let kept, kept.request == all, kept.stamps == stamps { return page(of: kept.ids, request) }
    kept = nil
    guard slow == all else { return nil }
    let ids = try context.fetchIDList(all)
    kept = (all, stamps, ids)
    return page(of: ids, request)
  }

  /// The page of a complete list of IDs. The last page may have fewer IDs.
  private func page(of ids: IDList, _ request: FetchRequest) -> [ManagedObjectID] {
    let start = min(request.fetchOffset, ids.count)
    return Array(ids[start..<min(ids.count, start + request.fetchLimit)])
  }

  // MARK: From the end

  /// The page of rows in the order of their keys, read from the end. Nil if this is not faster.
  ///
  /// The keys of the rows are the order that a request without sort descriptors gives.
  private func idsFromEnd(_ request: FetchRequest) throws -> [ManagedObjectID]? {
    let isPlain = request.predicate == nil && request.sortDescriptors.isEmpty && request.fetchOffset > Self.fewRows
    guard isPlain, let entity = session.model.entity(request.entityName), let (store, url) = onlyFile(of: entity)
    else { return nil }
    let count = try context.count(request.whole)
    guard request.fetchOffset > count / 2 else { return nil }
    let number = min(request.fetchLimit, count - request.fetchOffset)
    guard number > 0 else { return [] }
    let name = "\"\(entity.name.replacing("\"", with: "\"\""))\""
    let sql = """
      SELECT _pk\(entity.hasSubentities ? ", _entity" : "") FROM \(name)
      ORDER BY _pk DESC LIMIT \(number) OFFSET \(count - request.fetchOffset - number)
      """
    let query = try NamedQuery(
      sql, ofStoreAt: url, model: context.coordinator.model, entity: entity.name,
      busyTimeout: session.settings.stores.busyTimeout)
    var ids: [ManagedObjectID] = []
    while let row = try query.next() {
      let member = row.count > 1 ? row[1].string ?? entity.name : entity.name
      let uri = "x-coredata://\(store)/\(member)/p\(row[0].int ?? 0)"
      if let id = context.coordinator.managedObjectID(forURIRepresentation: uri) { ids.append(id) }
    }
    return ids.reversed()
  }

  /// The identifier and the file of the store with all objects of an entity, or nil if several
  /// stores contain them.
  private func onlyFile(of entity: ResolvedEntity) -> (String, URL)? {
    let stores = context.coordinator.persistentStores.filter { store in
      store.entities.contains { $0.name == entity.name }
    }
    guard stores.count == 1, let url = stores[0].url else { return nil }
    return (stores[0].identifier, url)
  }
}

extension FetchRequest {
  /// The request without a limit and an offset.
  ///
  /// Requests for different pages of the same rows are equal without their range.
  fileprivate var whole: FetchRequest {
    var request = self
    (request.fetchOffset, request.fetchLimit) = (0, 0)
    return request
  }
}
