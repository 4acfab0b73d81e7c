import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Results of a request that follow their context, as scripts see them: `request:follow { sections = "city" }`.
///
/// A wrapper of `FetchedResultsController`. Scripts read `results[i]`, `#results`, `results:all()` and
/// `results:sections()`, and observe with `results:on_change(f)`. The context keeps the controller until `cancel()` or
/// its own end.
final class ResultsBox {
  /// Weak, because the context retains the controller, which retains the context.
  private weak var controller: FetchedResultsController<ManagedObject>?
  /// The handle of the context, needed to release the observation.
  private let contextBox: ContextBox
  /// The observers of `on_change`; cancelled ones are removed at the next change.
  private var watches: [ScriptWatch] = []
  private let types: HostTypes

  /// Performs the first fetch and begins to follow. Throws errors of the fetch.
  init(_ controller: FetchedResultsController<ManagedObject>, in context: ContextBox, types: HostTypes) throws {
    (self.controller, contextBox, self.types) = (controller, context, types)
    controller.didChangeContent = { [unowned self] change in tell(change) }
    try controller.performFetch()
    try context.live().keep(observation: controller)
  }

  deinit { cancel() }

  /// Stops following. The list keeps its content. After this call the controller is released, and every access throws
  /// `.invalidRequest`.
  func cancel() {
    guard let controller else { return }
    controller.didChangeContent = nil
    (try? contextBox.live())?.release(observation: controller)
  }

  /// The current list. Throws if the list can no longer follow its context, because a script would take outdated
  /// results for current ones.
  ///
  /// The thrown error has the code and property of the failure.
  func current() throws -> FetchedResultsController<ManagedObject> {
    let controller = try live()
    guard let failure = controller.failure else { return controller }
    var error = GraphError(
      (failure as? any CodedError)?.code ?? .invalidRequest,
      message: "these results cannot follow their context any more: \(failure)", underlying: failure)
    error.property = (failure as? any CodedError)?.property
    throw error
  }

  /// The controller, also after a failure. Throws `.invalidRequest` after the end.
  func live() throws -> FetchedResultsController<ManagedObject> {
    if let controller { return controller }
    throw ScriptError(
      .invalidRequest, message: "these results follow no more: their context was closed, or they were cancelled")
  }

  /// Adds an observer for the next changes.
  func add(_ watch: ScriptWatch) { watches.append(watch) }

  /// Calls the active observers with the change as a table. Their errors are kept for the end of the program.
  private func tell(_ change: FetchedResultsChange) {
    watches.removeAll { !$0.isActive }
    for watch in watches { watch.callLate { domain in [.table(try Self.table(of: change, in: domain))] } }
  }

  /// Indexes count from 1, over all sections or within a section. A change as `{ deleted_sections, inserted_sections,
  /// deleted, inserted, moved, updated }`.
  ///
  ///
  /// Each entry of the last four lists is `{ id, from_section, from_index, to_section, to_index }`, with the fields
  /// that apply.
  private static func table(of change: FetchedResultsChange, in domain: ScriptDomain) throws -> LuaTable {
    let table = try domain.state.table(fields: 6)
    func numbers(_ sections: [Int]) throws -> LuaValue {
      .table(try domain.state.list(sections.map { .integer(Int64($0 + 1)) }))
    }
    try table.set("deleted_sections", to: numbers(change.deletedSections))
    try table.set("inserted_sections", to: numbers(change.insertedSections))
    var lists: [String: [LuaValue]] = ["deleted": [], "inserted": [], "moved": [], "updated": []]
    for object in change.objects {
      let (list, id, old, new): (String, ManagedObjectID, FetchedIndexPath?, FetchedIndexPath?) =
        switch object {
        case .delete(let id, let old): ("deleted", id, old, nil)
        case .insert(let id, let new): ("inserted", id, nil, new)
        case .move(let id, let old, let new): ("moved", id, old, new)
        case .update(let id, let old, let new): ("updated", id, old, new)
        }
      let entry = try domain.state.table(fields: 5)
      try entry.set("id", to: domain.luaValue(from: .objectID(id)))
      if let old { try set("from", to: old, of: entry) }
      if let new { try set("to", to: new, of: entry) }
      lists[list, default: []].append(.table(entry))
    }
    for (name, entries) in lists { try table.set(name, to: .table(domain.state.list(entries))) }
    return table
  }

  /// Sets the two fields of a place, such as `from_section` and `from_index`.
  private static func set(_ prefix: String, to place: FetchedIndexPath, of entry: LuaTable) throws {
    try entry.set("\(prefix)_section", to: .integer(Int64(place.section + 1)))
    try entry.set("\(prefix)_index", to: .integer(Int64(place.item + 1)))
  }
}

extension HostTypes {
  /// `request:follow { sections = "city" }`.
  ///
  /// Throws `.invalidRequest` within an extension's context and for a request without a sort order.
  func follow(_ box: RequestBox, call: inout LuaCall) throws {
    let context = try box.context
    let request = try box.objectRequest("follow")
    guard try openDomain().contexts.isKnown(context) else {
      throw ScriptError(
        .invalidRequest, message: "follow belongs to scripts: an extension observes objects, or its context with on")
    }
    guard !request.sortDescriptors.isEmpty else {
      throw ScriptError(
        .invalidRequest,
        message:
          "\(request.entityName): follow keeps an order: sort the request first, as in request:sort(\"name\"):follow()",
        entity: request.entityName)
    }
    var sections: String?
    if !call.isNil(0) {
      let options = try call.table(0)
      for (key, value) in try options.pairs {
        guard key.textValue == "sections", let path = value.textValue else {
          throw call.argumentError(
            0, problem: "{ sections = KEY PATH } is expected, got \(key.textValue ?? key.typePhrase)")
        }
        sections = path
      }
    }
    let controller = try FetchedResultsController<ManagedObject>(request, in: context, sectionNameKeyPath: sections)
    try call.return(ResultsBox(controller, in: self.context.box(context), types: self), as: results)
  }

  /// Describes the methods, the length and the index of results.
  func describeResultsBox() {
    results.method("all", upTo: 0) { [unowned self] box, call in
      try call.return(.table(openDomain().list(of: Self.objects(of: box))))
    }
    results.method("cancel", upTo: 0) { box, _ in box.cancel() }
    results.method("sections", upTo: 0) { [unowned self] box, call in
      let domain = try openDomain()
      let sections = try box.current().sections.map { section -> LuaValue in
        let table = try domain.state.table(fields: 2)
        try table.set("name", to: .text(section.name))
        try table.set("objects", to: .table(domain.list(of: Array(section.objects))))
        return .table(table)
      }
      try call.return(.table(domain.state.list(sections)))
    }
    results.method("on_change", upTo: 1) { [unowned self] box, call in
      let context = try box.live().managedObjectContext
      let watch = ScriptWatch("on_change", of: context, try call.function(0), types: self)
      watch.begin(box, in: context)
      box.add(watch)
      try call.return(watch, as: self.watch)
    }
    results.operator(.length) { call in call.return(try call.object(0, as: ResultsBox.self).current().count) }
    results.missing { [unowned self, unowned results] box, key, _, call in
      guard case .integer(let place) = try call.value(0) else {
        throw ScriptError(
          .unknownName, message: "results have no '\(key)'\(suggestion(for: key, among: results.names))")
      }
      let objects = try Self.objects(of: box)
      guard place > 0, place <= objects.count else { return call.returnNil() }
      try call.return(openDomain().handle(objects[Int(place) - 1]))
    }
  }

  /// The current objects, in the order of the request.
  private static func objects(of box: ResultsBox) throws -> [ManagedObject] {
    try box.current().fetchedObjects.map { Array($0) } ?? []
  }
}
