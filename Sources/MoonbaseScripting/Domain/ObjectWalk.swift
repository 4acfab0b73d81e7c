import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension HostTypes {
  /// A walk is accessible only to a `for` loop.
  func describeWalk() {
    walk.operator(.close) { call in try call.object(0, as: ObjectWalk.self).close(failing: !call.isNil(1)) }
  }
}

/// Iterates over the objects that matched at its beginning, skipping those deleted since.
final class ObjectWalk {
  private let box: RequestBox
  private unowned let domain: ScriptDomain
  private let found: FetchedObjects?
  /// The objects of an ordered relationship, in order.
  private let listed: [ManagedObject]
  private let saveEvery: Int?
  private var position = 0
  private var visited: [ManagedObject] = []
  private var isOver = false

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
