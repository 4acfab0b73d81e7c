import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The types under which a Lua state knows values, objects and contexts, and a reference to the domain.
///
/// The state retains this object, so that calls from scripts find it. The domain may end earlier, if Swift still holds
/// the state or a context that the domain extended.
///
/// Most types are registered with a closure that describes their methods, which runs when the first object of the type
/// enters Lua: a script that uses few types pays for few. The files `HostTypes+….swift` contain these descriptions, one
/// aspect each. `weight` and `usualWeight` are bytes that Lua counts for an object against the memory limit.
final class HostTypes {
  /// The types of values, which model files share.
  let values: LuaValueTypes
  /// The types below are those of `values`, stored here to save an indirection in conversions.
  let date: LuaValueType<Date>
  let decimal: LuaValueType<Decimal>
  let uuid: LuaValueType<UUID>
  let uri: LuaValueType<URL>
  let objectID: LuaValueType<ManagedObjectID>
  /// Errors are not interned: each raise makes its own object.
  let error = LuaHostType<ErrorBox>("error", interned: false)
  /// Contexts are interned by their boxes (`ContextType.box(_:)`).
  let context = ContextType()
  let request = LuaHostType<RequestBox>("fetch request", interned: false)
  let members = LuaHostType<ToManyBox>("relationship", interned: false)
  let listing = LuaHostType<ModelListing>("listing", interned: false)
  let progress = LuaHostType<ProgressBox>("progress", interned: false)
  let walk = LuaHostType<ObjectWalk>("walk", interned: false)
  let history = LuaHostType<HistoryBox>("history", interned: false)
  let job = LuaHostType<ScriptJob>("job", interned: false)
  let results = LuaHostType<ResultsBox>("results", interned: false)
  let watch = LuaHostType<ScriptWatch>("watch", interned: false)
  let changes = LuaHostType<ChangesBox>("changes", interned: false)
  /// The types of entities by shape. A model that is opened repeatedly reuses its types; models with other shapes never
  /// share them.
  var entities: [Symbol: LuaHostType<ManagedObject>] = [:]
  /// The type last requested. Successive objects usually have the same type. A cache of size one in front of
  /// `entities`.
  var recent: (shape: Symbol, type: LuaHostType<ManagedObject>)?

  /// Whether a changing call may have further work at its end: an undo step or the end of the run. Checked after each
  /// changing call (`finish(in:)`); false in the common case, so that the check costs one load.
  var hasAftermath = false

  // Sound: the domain sets this to nil when it ends, and nothing reads it afterwards.
  unowned(unsafe) var domain: ScriptDomain? {
    didSet { if domain == nil { for type in entities.values { type.reader = nil } } }
  }
  /// The state that retains this object as its `companion`.
  unowned let state: LuaState

  /// Registers the types of values at once and the other types for later.
  init(_ state: LuaState) {
    self.state = state
    values = LuaValueTypes(state)
    (date, decimal, uuid) = (values.date, values.decimal, values.uuid)
    (uri, objectID) = (values.uri, values.objectID)
    state.companion = self
    error.weight(\.weight)
    progress.weight(\.weight)
    listing.weight(\.weight)
    request.usualWeight = 64  // a request tells its context what it keeps, since later ones may keep it too
    members.usualWeight = 64
    history.usualWeight = 1024
    watch.usualWeight = 256
    job.usualWeight = 4096
    results.usualWeight = 1024
    changes.usualWeight = 256
    walk.usualWeight = 64  // what it keeps weighs with the iterator
    // Most scripts meet few of these types, so a type is described when its first object is passed to Lua.
    state.later(error) { [unowned self] in describeError() }
    state.later(context.plain, others: Self.callOfContext) { [unowned self] in describeContext() }
    state.later(request) { [unowned self] in describeRequest() }
    state.later(members, others: Self.callOfMembers) { [unowned self] in describeMembers() }
    state.later(listing) { [unowned self] in describeListing() }
    state.later(history) { [unowned self] in describeHistory() }
    state.later(walk) { [unowned self] in describeWalk() }
    state.later(progress) { [unowned self] in describeProgress() }
    state.later(job) { [unowned self] in describeJob() }
    state.later(results) { [unowned self] in describeResultsBox() }
    state.later(watch) { [unowned self] in describeWatch() }
    state.later(changes) { [unowned self] in describeChanges(changes) }
  }

  /// The method that a script probably meant, for the error about an unknown method of a context.
  private static func callOfContext(_ name: String) -> String? {
    switch name {
    case "commit", "flush": "save"
    case "add", "create": "insert"
    case "query": "fetch"
    case "remove": "delete"
    default: nil
    }
  }

  private static func callOfMembers(_ name: String) -> String? {
    switch name {
    case "append", "push": "add"
    case "delete", "discard": "remove"
    default: nil
    }
  }

  /// The type of an entity's objects, made when the first object is passed to Lua.
  func type(of entity: ResolvedEntity) throws -> LuaHostType<ManagedObject> {
    if let recent, recent.shape == entity.shape { return recent.type }
    let type = try entities[entity.shape] ?? register(entity)
    recent = (entity.shape, type)
    return type
  }

  /// Registers the type of an entity's shape in the state.
  private func register(_ entity: ResolvedEntity) throws -> LuaHostType<ManagedObject> {
    let new = describe(entity)
    try state.register(new)
    entities[entity.shape] = new
    return new
  }

  /// The domain. Throws if it has ended.
  func openDomain() throws -> ScriptDomain {
    guard let domain else {
      throw ScriptError(
        .invalidRequest,
        message: "the scripts of this context are closed: keep their ScriptDomain as long as the context is used")
    }
    return domain
  }
}
