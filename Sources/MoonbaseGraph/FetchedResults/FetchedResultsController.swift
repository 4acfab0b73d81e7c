public import MoonbaseModel

/// A sorted fetch whose result follows its context, divided into sections: what a table shows.
///
/// ```swift
/// var request = Person.fetchRequest(where: try Predicate(format: "age >= 18"))
/// request.sortDescriptors = [SortDescriptor("city"), SortDescriptor("name")]
/// let controller = try FetchedResultsController(request, in: context, sectionNameKeyPath: "city")
/// controller.didChangeContent = { change in change.apply(to: &rows) }
/// try controller.performFetch()
/// ```
///
/// It follows unsaved changes, saves, undone changes, rollbacks, refreshes, resets, and what the context merges of others; each call that
/// changes the list is told as one `FetchedResultsChange`, when the call is done. Objects of equal rank stay where they are: a request
/// whose sort descriptors tell all objects apart has the order of a new fetch.
///
/// A change costs what it changes, and the number of sections, where the request reads only what objects have themselves: attributes, and
/// derived ones that name only `ownInputs`. With key paths that lead to other objects, a limit or an offset, or without unsaved changes
/// (`includesPendingChanges`), the fetch is done again where objects changed that it reads, and with other derived attributes at each
/// change; so it is where very many changed at once.
///
/// The list keeps IDs. Objects are made as they are asked for, a batch of the request at a time. It belongs to its context, which it keeps,
/// and to the context's executor.
public final class FetchedResultsController<Object: ManagedObject> {
  private let follower: FetchedResultsFollower

  /// A controller for a request of any entity, whose objects are of the class. `sectionNameKeyPath` names what divides the result into
  /// sections, and the first sort descriptors must keep them together.
  ///
  /// Throws where objects of the entity may be of another class.
  public init(_ request: FetchRequest, in context: ManagedObjectContext, sectionNameKeyPath: String? = nil) throws {
    try context.checkClass(Object.self, of: request)
    let entity = try context.entity(request.entityName)
    follower = FetchedResultsFollower(request, of: entity, sectionPath: sectionNameKeyPath, in: context)
  }

  /// A controller for a request of a class.
  ///
  /// Throws where the model has no entity of the class, or one below it is of another class.
  public convenience init(
    _ request: TypedFetchRequest<Object>, in context: ManagedObjectContext, sectionNameKeyPath: String? = nil
  ) throws {
    try self.init(request.request(in: context), in: context, sectionNameKeyPath: sectionNameKeyPath)
  }

  /// The request.
  public var fetchRequest: FetchRequest { follower.request }
  /// The context of the objects.
  public var managedObjectContext: ManagedObjectContext { follower.context }
  /// The key path whose values name the sections.
  public var sectionNameKeyPath: String? { follower.sectionPath }

  /// Called when the list is another one, with what became of it. The closure may change objects: it is called again then.
  ///
  /// Where the list cannot follow, because a store cannot be read, sections are out of order, or a reload of extensions
  /// took away what the request names, it stays as it was, `failure` says why, and the next change has it fetched anew.
  public var didChangeContent: ((FetchedResultsChange) -> Void)? {
    get { follower.didChange }
    set { follower.didChange = newValue }
  }

  /// Called once when the list cannot follow any more, with the reason.
  public var didFail: ((any Error) -> Void)? {
    get { follower.didFail }
    set { follower.didFail = newValue }
  }

  /// The reason why the list differs from a fetch; nil while it follows. The error is also among the context's
  /// `pendingErrors`, which fail its next save.
  public var failure: (any Error)? { follower.failure }

  /// Fetches, and follows the context from then on. A second time it fetches anew, without telling what changed.
  ///
  /// Throws as `fetch` does, without sort descriptors, and where a section begins a second time, for then they are not sorted by.
  public func performFetch() throws { try follower.fetch() }

  /// The objects, read as they are walked; they stay those of now. Nil before the first fetch.
  public var fetchedObjects: TypedFetchedObjects<Object>? {
    follower.list == nil ? nil : TypedFetchedObjects(follower.fetchedObjects)
  }

  /// The IDs of the objects, section by section; nothing before the first fetch.
  public var objectIDs: [[ManagedObjectID]] {
    guard let list = follower.list else { return [] }
    let ids = Array(list.ids)
    return list.sections.map { Array(ids[$0.start..<$0.end]) }
  }

  /// How many objects there are.
  public var count: Int { follower.list?.count ?? 0 }

  /// The sections; one without a name where nothing divides them, and none where there are no objects.
  public var sections: [FetchedResultsSection<Object>] {
    follower.list?.sections.map { FetchedResultsSection($0, of: follower) } ?? []
  }

  /// The object at a place. Traps where there is none; one whose row is gone is a fault whose values cannot be read.
  public func object(at indexPath: FetchedIndexPath) -> Object {
    guard let list = follower.list, list.sections.indices.contains(indexPath.section),
      (0..<list.sections[indexPath.section].count).contains(indexPath.item)
    else { preconditionFailure("there is no object at \(indexPath)") }
    let object = follower.object(at: list.sections[indexPath.section].start + indexPath.item)
    guard let typed = object as? Object else { preconditionFailure("\(object.entity.name) has another class by now") }
    return typed
  }

  /// Where an object is; nil where it is not in the list.
  public func indexPath(for object: Object) -> FetchedIndexPath? {
    follower.place(of: object).flatMap { follower.list?.indexPath(of: $0) }
  }

  /// The index titles of the sections, each once, in their order.
  public var sectionIndexTitles: [String] {
    var titles: [String] = []
    for section in sections where titles.last != section.indexTitle { titles.append(section.indexTitle) }
    return titles
  }

  /// The number of the first section with an index title; nil for an unknown one.
  public func section(forSectionIndexTitle title: String) -> Int? { sections.firstIndex { $0.indexTitle == title } }
}

/// A section of a fetched-results controller, as it was when it was asked for.
public struct FetchedResultsSection<Object: ManagedObject> {
  /// The name: the value of the controller's `sectionNameKeyPath`; empty for a missing one.
  public let name: String
  /// How many objects it has.
  public let numberOfObjects: Int
  private let number: Int
  private let follower: FetchedResultsFollower

  init(_ section: ResultList.Section, of follower: FetchedResultsFollower) {
    (name, numberOfObjects, number) = (section.name, section.count, section.number)
    self.follower = follower
  }

  /// What stands in an index beside a table: the first letter of the name, in upper case.
  public var indexTitle: String { name.first.map { String($0).uppercased() } ?? "" }

  /// The objects that it has now, read as they are walked; nothing where the section is gone.
  public var objects: Slice<TypedFetchedObjects<Object>> {
    let now = follower.list?.sections.first { $0.number == number }
    return TypedFetchedObjects(follower.fetchedObjects)[now.map { $0.start..<$0.end } ?? 0..<0]
  }
}
