import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The types under which one Lua state knows values, objects and contexts.
final class HostTypes {
  let date = LuaHostType<LuaBox<Date>>("date", interned: false)
  let decimal = LuaHostType<LuaBox<Decimal>>("decimal", interned: false)
  let uuid = LuaHostType<LuaBox<UUID>>("uuid", interned: false)
  let uri = LuaHostType<LuaBox<URL>>("uri", interned: false)
  let objectID = LuaHostType<LuaBox<ManagedObjectID>>("object ID", interned: false)
  let error = LuaHostType<ErrorBox>("error", interned: false)
  let context = LuaHostType<ManagedObjectContext>("context")
  let request = LuaHostType<RequestBox>("fetch request", interned: false)
  let members = LuaHostType<ToManyBox>("relationship", interned: false)
  let progress = LuaHostType<ProgressBox>("progress", interned: false)
  private var entities: [ObjectIdentifier: LuaHostType<ManagedObject>] = [:]

  unowned(unsafe) var domain: ScriptDomain?  // sound: the domain owns its types and clears nothing before them
  private unowned let state: LuaState

  init(_ state: LuaState) {
    self.state = state
    for type: LuaAnyHostType in [date, decimal, uuid, uri, objectID] { type.isText = true }
    // Most scripts meet few of these: each is described when its first object is handed over.
    state.registerLater(date) { [unowned self] in describeDate() }
    state.registerLater(decimal) { [unowned self] in describeDecimal() }
    state.registerLater(uuid) { [unowned self] in describeUUID() }
    state.registerLater(uri) { [unowned self] in describeURI() }
    state.registerLater(objectID) { [unowned self] in describeObjectID() }
    state.registerLater(error) { [unowned self] in describeError() }
    state.registerLater(context) { [unowned self] in describeContext() }
    state.registerLater(request) { [unowned self] in describeRequest() }
    state.registerLater(members) { [unowned self] in describeMembers() }
    state.registerLater(progress) { [unowned self] in describeProgress() }
  }

  /// The type of an entity's objects, made when the first one is handed over.
  func type(of entity: ResolvedEntity) throws -> LuaHostType<ManagedObject> {
    if let known = entities[ObjectIdentifier(entity)] { return known }
    let new = describe(entity)
    try state.register(new)
    entities[ObjectIdentifier(entity)] = new
    return new
  }

  /// The domain, which is there as long as a script runs.
  func home() throws -> ScriptDomain {
    guard let domain else { throw ScriptError(.invalidRequest, "the script's domain is gone") }
    return domain
  }
}
