import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The contexts related to a context (its parent and children, changes saved by other contexts), and the list of all
/// its objects.
extension HostTypes {
  /// Describes `child`, `parent`, `close`, `merge_changes`, the settings of merging, and the lists of objects.
  func describeFamily() {
    context.method("child", upTo: 0) { [unowned self] context, call in
      let child = try openDomain().contexts.child(of: context)
      try call.return(.object(self.context.handle(child)))
    }
    context.property(
      "parent",
      get: { [unowned self] context, call in
        try call.return(context.parent.map { .object(self.context.handle($0)) } ?? .nil)
      })
    context.plain.method("close", upTo: 0) { [unowned self] box, _ in
      guard !box.isGone else { return }
      try openDomain().contexts.close(box.live())
      box.wasClosed = true
    }
    context.property(
      "automatically_merges", get: { context, call in call.return(context.automaticallyMergesChangesFromParent) },
      set: { context, call in context.automaticallyMergesChangesFromParent = try call.boolean(0) })
    context.property(
      "staleness", get: { context, call in call.return(context.stalenessInterval?.seconds ?? -1) },
      set: { context, call in
        let seconds = try call.number(0)
        context.stalenessInterval = seconds < 0 ? nil : Duration(seconds: seconds)
      })
    context.method("merge_changes", upTo: 1) { [unowned self] context, call in
      let changes = try call.object(0, as: ChangesBox.self, name: "changes of another context")
      guard let saved = changes.saved else {
        throw call.argumentError(0, problem: "what a save changed is expected, as on(\"did_save\", ...) gives it")
      }
      try context.mergeChanges(from: saved)
      try finish(in: context)
    }
    describeObjectsOfContext()
    describeMetadata()
  }

  /// Describes the lists `inserted`, `updated`, `deleted` and `registered`, and the methods that concern all objects.
  private func describeObjectsOfContext() {
    objects("inserted") { $0.insertedObjects }
    objects("updated") { $0.updatedObjects }
    objects("deleted") { $0.deletedObjects }
    objects("registered") { $0.registeredObjects }
    context.method("refresh_all", upTo: 0) { context, _ in try context.refreshAllObjects() }
    context.method("obtain_permanent_ids") { [unowned self] context, call in
      let objects = try Self.objects(of: call)
      try context.obtainPermanentIDs(for: objects)
      let domain = try openDomain()
      for object in objects { try domain.answer(&call, with: .objectID(object.objectID)) }
    }
  }

  /// Defines a property that lists objects. The list is made at each access, in the order of the graph's set.
  private func objects(_ name: String, _ read: @escaping (ManagedObjectContext) -> [ManagedObject]) {
    context.property(
      name,
      get: { [unowned self] context, call in
        let objects = read(context)
        try call.return(.table(try openDomain().list(of: objects)))
      })
  }

  /// Describes `metadata`, the values by name of the context's only store, and `set_metadata`, which merges names;
  /// `moonbase.null` removes one.
  private func describeMetadata() {
    context.property(
      "metadata",
      get: { [unowned self] context, call in
        let values = try Self.store(of: context).metadata()
        try openDomain().answer(&call, with: .map(values))
      })
    context.method("set_metadata", upTo: 1) { [unowned self] context, call in
      let domain = try openDomain()
      var new: [String: Value] = [:]
      for (key, value) in try call.table(0).pairs {
        guard let name = key.textValue else {
          throw call.argumentError(0, problem: "metadata goes by names, and \(key.typePhrase) is none")
        }
        try Self.checkOwn(name)
        new[name] = try domain.graphValue(from: value)
      }
      let store = try Self.store(of: context)
      try domain.attempt(&call) { [new] in
        try store.change(MetadataChange(of: store) { $0.merging(new) { $1 }.filter { !$0.value.isNull } })
      }
    }
  }

  /// Throws for metadata names reserved for the store or this engine. Core Data's own names begin with `NS`.
  private static func checkOwn(_ name: String) throws {
    try TextLimits.check(path: name)
    let kept = ["NS", "_NS", "Moonbase"].first { name.hasPrefix($0) }
    guard let kept else { return }
    throw ScriptError(
      .invalidRequest, message: "metadata '\(name)' is kept by the store: names of your own do not begin with \(kept)")
  }

  /// The only store of a context. Throws `.invalidRequest` for no store or several.
  private static func store(of context: ManagedObjectContext) throws -> any PersistentStore {
    let stores = context.coordinator.persistentStores
    guard let first = stores.first, stores.count == 1 else {
      throw ScriptError(
        .invalidRequest,
        message: stores.isEmpty
          ? "the context has no store, and so no metadata"
          : "the context has \(stores.count) stores, each with metadata of its own: open the one that is meant by itself"
      )
    }
    return first
  }
}
