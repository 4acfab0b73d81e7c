public import MoonbaseGraph
public import MoonbaseModel

/// A sorted fetch, divided into sections, whose result follows changes in its context: the model of a table view.
///
/// ```swift
/// var request = Person.fetchRequest(where: try Predicate(format: "age >= 18"))
/// request.sortDescriptors = [SortDescriptor("city"), SortDescriptor("name")]
/// let controller = try FetchedResultsController(request, in: context, sectionNameKeyPath: "city")
/// controller.didChangeContent = { change in change.apply(to: &rows) }
/// try controller.performFetch()
/// ```
///
/// The list follows unsaved changes, saves, undo, rollbacks, refreshes, resets, and merged changes of other contexts.
/// Each call that changes the list is reported as one `FetchedResultsChange` when the call ends. Objects that sort
/// equally keep their places: for the order of a new fetch, the sort descriptors must distinguish all objects.
///
/// If the request reads only the objects' own attributes, and derived attributes that name only `ownInputs`, an update
/// takes time in proportion to the changed objects and the number of sections. The fetch is repeated for relevant
/// changes if the request has key paths to other objects, a limit or an offset, or excludes unsaved changes
/// (`includesPendingChanges`). It is repeated for every change with other derived attributes, and also if very many
/// objects changed at once.
///
/// The list keeps IDs and creates objects on access, in batches of the request's size. The controller retains its
/// context and is confined to the context's executor.
public final class FetchedResultsController<Object: ManagedObject> {
  private let follower: FetchedResultsFollower

  /// Makes a controller for a request whose objects have the class. `sectionNameKeyPath` divides the result into
  /// sections; the first sort descriptors must keep the objects of a section together.
  ///
  /// Throws if objects of the entity may have another class.
  public init(_ request: FetchRequest, in context: ManagedObjectContext, sectionNameKeyPath: String? = nil) throws {
    try context.checkClass(Object.self, of: request)
    let entity = try context.entity(request.entityName)
    follower = FetchedResultsFollower(request, of: entity, sectionPath: sectionNameKeyPath, in: context)
  }

  /// Makes a controller for a typed request.
  ///
  /// Throws if the model has no entity of the class, or if a subentity has another class.
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

  /// Called with the change after the list changed. The closure may change objects, which calls it again.
  ///
  /// If an update fails, because a store cannot be read, sections are out of order, or reloaded extensions no longer
  /// have a name in the request, the list stays as it was. `failure` then has the reason, and the next change repeats
  /// the fetch.
  public var didChangeContent: ((FetchedResultsChange) -> Void)? {
    get { follower.didChange }
    set { follower.didChange = newValue }
  }

  /// Called once when the list fails to follow a change, with the error.
  public var didFail: ((any Error) -> Void)? {
    get { follower.didFail }
    set { follower.didFail = newValue }
  }

  /// The error because of which the list is not up to date; otherwise nil. It is also in the context's `pendingErrors`,
  /// which fail the next save.
  public var failure: (any Error)? { follower.failure }

  /// Fetches, and follows the context from then on. Another call fetches again, without reporting a change.
  ///
  /// Throws as `fetch` does, and if there are no sort descriptors, or if they do not keep the objects of each section
  /// together.
  public func performFetch() throws { try follower.fetch() }

  /// The current objects, read during iteration; later changes do not affect the result. Nil before the first fetch.
  public var fetchedObjects: TypedFetchedObjects<Object>? {
    follower.list == nil ? nil : TypedFetchedObjects(follower.fetchedObjects)
  }

  /// The IDs of the objects, section by section; empty before the first fetch.
  public var objectIDs: [[ManagedObjectID]] {
    guard let list = follower.list else { return [] }
    let ids = Array(list.ids)
    return list.sections.map { Array(ids[$0.start..<$0.end]) }
  }

  /// The number of objects.
  public var count: Int { follower.list?.count ?? 0 }

  /// The sections: a single section without a name if no key path divides the list, and none if there are no objects.
  public var sections: [FetchedResultsSection<Object>] {
    follower.list?.sections.map { FetchedResultsSection($0, of: follower) } ?? []
  }

  /// The object at a position. Traps if there is none. If the object's row is gone, it is a fault whose values cannot
  /// be read.
  public func object(at indexPath: FetchedIndexPath) -> Object {
    guard let list = follower.list, list.sections.indices.contains(indexPath.section),
      (0..<list.sections[indexPath.section].count).contains(indexPath.item)
    else { preconditionFailure("there is no object at \(indexPath)") }
    let object = follower.object(at: list.sections[indexPath.section].start + indexPath.item)
    guard let typed = object as? Object else { preconditionFailure("\(object.entity.name) has another class by now") }
    return typed
  }

  /// The position of an object; nil if it is not in the list.
  public func indexPath(for object: Object) -> FetchedIndexPath? {
    follower.place(of: object).flatMap { follower.list?.indexPath(of: $0) }
  }

  /// The index titles of the sections in order, without repetition.
  public var sectionIndexTitles: [String] {
    var titles: [String] = []
    for section in sections where titles.last != section.indexTitle { titles.append(section.indexTitle) }
    return titles
  }

  /// The index of the first section with an index title; nil if there is none.
  public func section(forSectionIndexTitle title: String) -> Int? { sections.firstIndex { $0.indexTitle == title } }
}

/// A section of a fetched-results controller, as of the time of access.
public struct FetchedResultsSection<Object: ManagedObject> {
  /// The name: the value of the controller's `sectionNameKeyPath`, or an empty text for null.
  public let name: String
  /// The number of objects.
  public let numberOfObjects: Int
  private let number: Int
  private let follower: FetchedResultsFollower

  init(_ section: ResultList.Section, of follower: FetchedResultsFollower) {
    (name, numberOfObjects, number) = (section.name, section.count, section.number)
    self.follower = follower
  }

  /// The title in an index beside a table: the first letter of the name in upper case.
  public var indexTitle: String { name.first.map { String($0).uppercased() } ?? "" }

  /// The current objects of the section, read during iteration; empty if the section is gone.
  public var objects: Slice<TypedFetchedObjects<Object>> {
    let now = follower.list?.sections.first { $0.number == number }
    return TypedFetchedObjects(follower.fetchedObjects)[now.map { $0.start..<$0.end } ?? 0..<0]
  }
}
