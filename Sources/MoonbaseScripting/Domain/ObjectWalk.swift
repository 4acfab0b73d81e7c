import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension HostTypes {
  /// Only `for` has a walk in its hands.
  func describeWalk() {
    walk.operator(.close) { call in try call.object(0, as: ObjectWalk.self).close(failing: !call.isNil(1)) }
  }
}

/// Walks the objects that matched when it began; skips those that are gone since.
final class ObjectWalk {
  private let box: RequestBox
  private unowned let domain: ScriptDomain
  private let found: FetchedObjects?
  /// The objects of an ordered relationship, in its order.
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

  /// The bytes that the walk keeps. The context weighs the visited objects.
  var weight: Int { found?.weight ?? 64 + 16 * listed.count }

  /// Its loop is left. What is on its way to the store arrives first, and why it did not, the loop says; where it fails, others wait for it.
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

  /// Saves and turns what was visited into faults, so that memory stays flat. With `ahead` the rows may still be on their way to the
  /// store when the walk goes on; what is wrong with them the next step says.
  private func saveVisited(ahead: Bool) throws {
    let context = try box.context
    try context.saveAhead()
    if !ahead { try context.finishSave() }
    // No result of a loop could hand it over: it is told at the end of the program.
    _ = domain.didSaveError(of: context)
    // What a did_save hook changed waits for the next save; what is on its way is a fault already.
    try context.turnIntoFaults(visited)
    visited = []
  }
}
