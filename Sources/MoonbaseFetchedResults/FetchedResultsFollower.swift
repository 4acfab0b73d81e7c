import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The list of a fetched-results controller, which follows changes in the context.
///
/// If only the objects' own values count, each changed object is evaluated again and binary search finds its place
/// (`ListUpdate`). Otherwise, and if so many objects changed that most rows would be read, the fetch is repeated and
/// both lists are compared.
final class FetchedResultsFollower: ChangeListener {
  let request: FetchRequest
  let entity: ResolvedEntity
  let context: ManagedObjectContext
  let sectionPath: String?
  var didChange: ((FetchedResultsChange) -> Void)?
  var didFail: ((any Error) -> Void)?

  /// The list; nil before the first fetch.
  private(set) var list: ResultList?
  private var paths: FollowedPaths?
  private var matcher: ListMatcher?
  /// The error of the last update, and whether it was reported; the next change repeats the fetch.
  private var lastFailure: (error: any Error, isReported: Bool)?
  var failure: (any Error)? { lastFailure?.error }
  private var hasFailed: Bool { lastFailure != nil }
  private var renamed: [(old: ManagedObjectID, new: ManagedObjectID)] = []
  private var window: (places: Range<Int>, objects: [ManagedObject?]) = (0..<0, [])
  private var found: FetchedObjects?

  init(_ request: FetchRequest, of entity: ResolvedEntity, sectionPath: String?, in context: ManagedObjectContext) {
    (self.request, self.entity, self.sectionPath, self.context) = (request, entity, sectionPath, context)
  }

  deinit { context.removeListener(ObjectIdentifier(self)) }

  // MARK: Fetching

  /// Fetches the list, and registers for changes of the context.
  func fetch() throws {
    guard !request.sortDescriptors.isEmpty else {
      throw GraphError(
        .invalidRequest,
        message:
          "\(request.entityName): a fetched-results controller keeps an order: give its request sort descriptors",
        entity: request.entityName)
    }
    try checkSectionPath()
    let paths = try FollowedPaths(request, sectionPath: sectionPath, in: context)
    let matcher = try ListMatcher(request, sectionPath: sectionPath, in: context)
    let fetched = try fetchedList()
    if list == nil { context.add(self) }
    (list, self.paths, self.matcher, lastFailure) = (fetched, paths, matcher, nil)
    forgetObjects()
  }

  /// Throws for an invalid section key path, which would otherwise fail only once there are objects. The key may belong
  /// to a subentity.
  private func checkSectionPath() throws {
    guard let sectionPath, let key = sectionPath.split(separator: ".").first.map(String.init) else { return }
    let isKnown = entity.subtree.contains {
      let entity = context.model.entities[$0]
      return entity.property(key) != nil || entity.fetchedProperties[key] != nil
    }
    if !isKnown { try context.model.check(keyPath: sectionPath, from: entity) }
  }

  /// The list according to a new fetch.
  private func fetchedList() throws -> ResultList {
    var request = request
    request.resultType = .objects
    let former = list ?? ResultList()
    guard let sectionPath else {
      let ids = try context.fetchIDsNow(request)
      return try sorting { () throws(ResultList.NameOutOfOrder) in
        try ResultList(ids, names: [String](repeating: "", count: ids.count), after: former)
      }
    }
    let walk = try context.fetchedObjects(request)
    var (ids, names): ([ManagedObjectID], [String]) = ([], [])
    var place = 0
    while try walk.reaches(place) {
      if let object = try walk.existingObject(at: place) {
        ids.append(object.objectID)
        names.append(try object.sectionName(sectionPath))
      }
      place += 1
    }
    return try sorting { () throws(ResultList.NameOutOfOrder) in try ResultList(ids, names: names, after: former) }
  }

  /// Runs `body`, and throws `.invalidRequest` if the sort descriptors do not keep sections together.
  private func sorting<Result>(_ body: () throws(ResultList.NameOutOfOrder) -> Result) throws -> Result {
    do { return try body() } catch {
      throw GraphError(
        .invalidRequest,
        message:
          "\(request.entityName): the section \(error.name.asName) begins a second time at place \(error.place): sort by "
          + "what \(sectionPath ?? "") is made of before anything else",
        entity: request.entityName, property: sectionPath)
    }
  }

  // MARK: Following

  /// Updates the list after changes in the context, and reports the difference.
  func receive(_ news: ObjectChanges) {
    guard list != nil, let paths else { return }
    var concerns = news.isEverything || hasFailed || news.isSaved && !request.includesPendingChanges
    for (old, new) in news.renamed { list?.rename(old, to: new) }
    concerns = concerns || news.touched.contains { paths.concern($0, in: context.model) }
    guard concerns else { return }
    do {
      let change = try changed(by: news, paths)
      lastFailure = nil
      forgetObjects()
      if let change, !change.isEmpty { didChange?(change) }
    } catch {
      // A failure is reported once, and fails only one save.
      let isReported = lastFailure?.isReported == true
      let isReportedNow = !isReported && !mayBeOutdated(error)
      lastFailure = (error, isReported || isReportedNow)
      guard isReportedNow else { return }
      context.keep(error)
      didFail?(error)
    }
  }

  /// Whether an error may be due to a save of another context that is not merged yet: the store sorts by new values,
  /// and objects of this context show old values. The merge of that save repeats the fetch.
  private func mayBeOutdated(_ error: any Error) -> Bool {
    guard let error = error as? any CodedError, isOutOfOrder(error) || error.code == .objectNotFound else {
      return false
    }
    if context.hasPendingNotifications { return true }
    // The notification of a save arrives shortly after the save. Values of other objects are in doubt only then.
    return failure == nil && paths?.areOwn == false
  }

  /// Whether an error is that of `sorting`.
  private func isOutOfOrder(_ error: any CodedError) -> Bool {
    error.code == .invalidRequest && sectionPath != nil && (error as? GraphError)?.property == sectionPath
  }

  /// Updates the list; returns the difference, or nil without a list.
  private func changed(by news: ObjectChanges, _ paths: FollowedPaths) throws -> FetchedResultsChange? {
    guard var old = list else { return nil }
    if news.isEverything {
      // After a reload of extensions, names may refer to other attributes.
      self.paths = try FollowedPaths(request, sectionPath: sectionPath, in: context)
      matcher = try ListMatcher(request, sectionPath: sectionPath, in: context)
    }
    if paths.areOwn, !hasFailed, !news.isEverything, let matcher {
      var update = ListUpdate(old, matcher: matcher, in: context)
      do {
        let (new, difference) = try update.taking(news.touched.filter { paths.concern($0, in: context.model) })
        list = new
        return old.change(difference, to: new)
      } catch let error as any CodedError where error.code.endsRun {
        throw error
      } catch {
        // The fetch below either succeeds or throws the same error.
      }
    }
    var new = try fetchedList()
    let difference = ListDifference(from: &old, to: &new) { news.isEverything || news.touched.contains($0) }
    list = new
    return old.change(difference, to: new)
  }

  // MARK: Objects

  /// Releases cached objects after the list changed.
  private func forgetObjects() {
    found = nil
    window = (0..<0, [])
  }

  /// The number of objects that are read together.
  private var batchSize: Int { request.fetchBatchSize > 0 ? request.fetchBatchSize : 64 }

  /// The object at an index. Objects after it, or before it when accesses go backwards, are read at the same time.
  func object(at place: Int) -> ManagedObject {
    guard let list, place >= 0, place < list.count else {
      preconditionFailure("there is no object at place \(place) of \(list?.count ?? 0)")
    }
    if !window.places.contains(place) { readWindow(with: place, of: list) }
    let known = window.places.contains(place) ? window.objects[place - window.places.lowerBound] : nil
    return known ?? context.fault(list.ids[place])
  }

  /// Reads the objects around a place.
  private func readWindow(with place: Int, of list: ResultList) {
    let start = place + 1 == window.places.lowerBound ? max(0, place + 1 - batchSize) : place
    let places = start..<min(list.count, start + batchSize)
    let ids = places.map { list.ids[$0] }
    do {
      let loaded = try context.loadObjects(with: ids)
      window = withExtendedLifetime(loaded) { (places, ids.map { context.registeredObject(for: $0) }) }
    } catch {
      context.keep(error)
    }
  }

  /// All objects, read during iteration.
  var fetchedObjects: FetchedObjects {
    if let found { return found }
    let new = FetchedObjects(ids: list.map { IDList($0.ids) } ?? IDList(), request, of: entity, in: context)
    found = new
    return new
  }

  func place(of object: ManagedObject) -> Int? {
    guard object.context === context else { return nil }
    return list?.place(of: object.objectID)
  }
}

extension ManagedObject {
  /// The name of the object's section: the value as text, empty for null.
  func sectionName(_ keyPath: String) throws -> String {
    let value = try value(forKeyPath: keyPath)
    if let text = value.text { return text }
    guard value.isNull else {
      throw invalid("\(keyPath) gives \(value.typeDescription), and no section can be named so")
    }
    return ""
  }
}
