import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The close operator of Lua (`<close>`) ends a walk early, also after `break` and after an error in the loop.
extension HostTypes {
  /// A walk is accessible only to a `for` loop.
  func describeWalk() {
    walk.operator(.close) { call in try call.object(0, as: ObjectWalk.self).close(failing: !call.isNil(1)) }
  }
}

/// Iterates over the objects that matched at its beginning, skipping those deleted since.
///
/// `request:each()` makes a walk. IDs of the matching objects are fixed at the beginning; rows are read in batches on
/// the way. With `save_every(n)` the walk saves after `n` visited objects and turns them into faults, so that a loop
/// over millions of objects needs constant memory.
final class ObjectWalk {
  /// The request, which is retained for its context and its unsaved objects.
  private let box: RequestBox
  private unowned let domain: ScriptDomain
  /// The matching objects; nil when `listed` has them.
  private let found: FetchedObjects?
  /// The objects of an ordered relationship, in order.
  private let listed: [ManagedObject]
  /// The number of visited objects after which the walk saves; nil without `save_every`.
  private let saveEvery: Int?
  /// The place of the next object, from 0, including deleted objects.
  private var position = 0
  /// The objects since the last save. Filled only with `save_every`.
  private var visited: [ManagedObject] = []
  /// Whether the loop has ended, so that further steps return nil.
  private var isOver = false

  /// Fetches the IDs. Throws errors in the request, and `.invalidRequest` for a request of groups.
  init(_ box: RequestBox, domain: ScriptDomain) throws {
    self.box = box
    self.domain = domain
    let request = try box.objectRequest("each")
    let inOrder = try box.objectsInOrder(request)
    found = try inOrder == nil ? box.context.walk(request) : nil
    listed = inOrder ?? []
    saveEvery = box.saveEvery
  }

  /// The estimated bytes of the walk. The context weighs the visited objects.
  var weight: Int { found?.weight ?? 64 + 16 * listed.count }

  /// Ends the walk when its loop ends. Waits for the pending save and throws its error, unless the loop failed.
  func close(failing: Bool) throws {
    isOver = true
    found?.close()
    if saveEvery != nil, !failing { try box.context.finishSave() }
  }

  /// The next object that still exists; nil at the end, after the last save.
  func next() throws -> ManagedObject? {
    if isOver { return nil }
    if let saveEvery, visited.count >= saveEvery { try saveVisited(ahead: true) }
    try box.checkContext()
    while try found?.reaches(position) ?? (position < listed.count) {
      defer { position += 1 }
      guard let object = try object(at: position) else { continue }
      if saveEvery != nil { visited.append(object) }
      return object
    }
    if saveEvery != nil { try saveVisited(ahead: false) }
    return nil
  }

  /// The object at a place; nil if it was deleted or left the context since the beginning.
  private func object(at position: Int) throws -> ManagedObject? {
    guard let found else {
      let object = listed[position]
      return object.isDeleted || object.managedObjectContext == nil ? nil : object
    }
    return try found.existingObject(at: position)
  }

  /// Saves and turns visited objects into faults, so that memory stays constant. With `ahead` the walk continues while
  /// the rows are still being written; the next step throws their error.
  private func saveVisited(ahead: Bool) throws {
    let context = try box.context
    try context.saveAhead()
    if !ahead { try context.finishSave() }
    // A loop cannot return the error of a did_save hook, so it is reported at the end of the program.
    _ = domain.didSaveError(of: context)
    // Changes by a did_save hook wait for the next save. Objects being written are faults already.
    try context.turnIntoFaults(visited)
    visited = []
  }
}
