import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Saves of another context and their effect here: a merge or a conflict.
extension Replica {
  private var persistentKeys: [String] { ["name", "number", isPlain ? "code" : "data", "note"] }

  /// A context that shares the row cache, or only the store, with the queue of its saves.
  private func other(_ number: Int) -> (context: ManagedObjectContext, inbox: NotificationInbox<SavedObjectIDs>) {
    let context = number % 2 == 0 ? bench.context() : bench.stranger()
    return (context, context.coordinator.addInbox())
  }

  private func take(_ inbox: NotificationInbox<SavedObjectIDs>) throws {
    for saved in inbox.drain() { try context.mergeChanges(from: saved) }
  }

  private func isUnrelated(_ number: Int) -> Bool {
    committed.nodes[number]?.hasLinks == false && world.nodes[number]?.hasLinks == false
  }

  /// Another context changes some values of an object and saves; the model of the store follows.
  private func changeElsewhere(_ number: Int, _ keys: [String], in context: ManagedObjectContext) throws {
    let object = try context.object(with: object(number).objectID)
    for key in keys {
      let value = freshValue(key)
      log.append("elsewhere #\(number).\(key) = \(value)")
      try object.setValue(value, forKey: key)
      committed.nodes[number]?.values[key] = value
    }
  }

  private func chosen(_ bits: Int) -> [String] {
    let keys = persistentKeys.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
    return keys.isEmpty ? ["name"] : keys
  }

  /// Values unchanged here become those saved by the other context.
  private func mergeValues(_ number: Int, over before: ReferenceWorld) {
    for key in persistentKeys where world.nodes[number]?.values[key] == before.nodes[number]?.values[key] {
      world.nodes[number]?.values[key] = committed.nodes[number]?.values[key]
    }
  }

  // MARK: Merging

  func merge(_ a: Int, _ b: Int, _ c: Int) throws {
    guard level == 0 else { return }
    try endEvent()
    guard let number = pick(a, where: { committed.nodes[$0] != nil }) else { return }
    let before = committed
    let (other, inbox) = other(a)
    try changeElsewhere(number, chosen(c), in: other)
    let friend = try befriend(number, b, in: other)
    let gone = try deleteElsewhere(c, sparing: [number, friend].compactMap { $0 }, in: other)
    let new = b % 3 == 0 ? try insertElsewhere(in: other) : nil
    try other.save()
    log.append("merge")
    try take(inbox)
    mergeValues(number, over: before)
    if let gone {
      world.nodes[gone] = nil
      if objects[gone]?.managedObjectContext != nil { mistakes.append("#\(gone) is still here") }
    }
    if let new { objects[new.number] = try context.object(with: new.object.objectID) }
    becomeMurky()
    try checkStore()
  }

  private func befriend(_ number: Int, _ b: Int, in context: ManagedObjectContext) throws -> Int? {
    let link = ReferenceModel.link("friends")
    let friend = pick(b) {
      $0 != number && committed.nodes[$0] != nil && !committed.leads(number, link, to: $0)
        && !world.leads(number, link, to: $0)
    }
    guard let friend, b % 2 == 0, !isPlain else { return nil }
    log.append("elsewhere #\(number).friends + #\(friend)")
    try context.object(with: object(number).objectID).add(context.object(with: object(friend).objectID), to: link.name)
    for path in [\Replica.committed, \Replica.world] { self[keyPath: path].add(friend, to: number, link) }
    return friend
  }

  private func deleteElsewhere(_ c: Int, sparing: [Int], in context: ManagedObjectContext) throws -> Int? {
    let gone = pick(c) {
      committed.nodes[$0] != nil && isUnrelated($0) && !touched.contains($0) && !sparing.contains($0)
    }
    guard let gone, c % 3 == 0 else { return nil }
    log.append("elsewhere delete #\(gone)")
    try context.delete(context.object(with: object(gone).objectID))
    committed.nodes[gone] = nil
    return gone
  }

  private func insertElsewhere(in context: ManagedObjectContext) throws -> (number: Int, object: ManagedObject) {
    let number = nextNumber()
    log.append("elsewhere insert #\(number)")
    let values: [String: Value] = ["code": .string("c\(number)"), "name": freshValue("name")]
    let object = try context.insert("Node", values: values)
    for path in [\Replica.committed, \Replica.world] { self[keyPath: path].insert(number, isLeaf: false, values) }
    committed.nodes[number]?.values["mood"] = nil
    return (number, object)
  }

  // MARK: Conflicts

  enum Policy: Int {
    case error, store, object, overwrite, rollback

    var policy: MergePolicy {
      switch self {
      case .error: .error
      case .store: .mergeByPropertyStoreTrump
      case .object: .mergeByPropertyObjectTrump
      case .overwrite: .overwrite
      case .rollback: .rollback
      }
    }
  }

  /// Both contexts change an object, and this context saves last.
  func conflict(_ a: Int, _ b: Int, _ c: Int) throws {
    guard level == 0 else { return }
    try endEvent()
    guard let number = pick(a, where: { committed.nodes[$0] != nil }) else { return }
    var policy = Policy(rawValue: b % 5) ?? .error
    try set(number, persistentKeys[b % 4])
    guard let mine = world.nodes[number], let saved = committed.nodes[number] else { return }
    let links = mine.persistent
    if policy == .rollback, links.ones != saved.ones || links.lists != saved.lists { policy = .store }
    let before = committed
    let (other, inbox) = other(a)
    let keys = chosen(c)
    try changeElsewhere(number, keys, in: other)
    try other.save()
    log.append("save with policy \(policy)")
    context.mergePolicy = policy.policy
    defer { context.mergePolicy = .error }
    guard policy != .error else {
      try expectFailure(.mergeConflict)
      mergeValues(number, over: before)
      try take(inbox)
      return becomeMurky()
    }
    try context.save()
    for key in persistentKeys {
      let (isMine, isTheirs) = (mine.values[key] != saved.values[key], keys.contains(key))
      let takesTheirs: Bool =
        switch policy {
        case .error, .object: isTheirs && !isMine
        case .store: isTheirs
        case .overwrite: false
        case .rollback: true
        }
      if takesTheirs { world.nodes[number]?.values[key] = committed.nodes[number]?.values[key] }
    }
    try adoptTransients()
    try noteSaved()
    try take(inbox)
    becomeMurky()
  }

  private func expectFailure(_ code: ErrorCode) throws {
    do {
      try context.save()
    } catch let error as GraphError where error.code == code { return }
    throw ReferenceMistake("no error")
  }

  /// A context changes an object that the other one deletes.
  func conflictOfDeletion(_ a: Int, _ b: Int) throws {
    guard level == 0 else { return }
    try endEvent()
    guard let number = pick(a, where: { committed.nodes[$0] != nil && isUnrelated($0) }) else { return }
    let policy = Policy(rawValue: b % 5) ?? .error
    let isMine = a % 2 == 0
    let (other, inbox) = other(b)
    if isMine {
      // A deleted fault has no version to compare.
      _ = try object(number).value(forKey: "name")
      try context.delete(object(number))
      try changeElsewhere(number, ["name"], in: other)
    } else {
      try set(number, "name")
      try other.delete(other.object(with: object(number).objectID))
    }
    try other.save()
    log.append("save #\(number) \(isMine ? "deleted" : "changed") with policy \(policy)")
    context.mergePolicy = policy.policy
    defer { context.mergePolicy = .error }
    let storeWins = policy == .store || policy == .rollback
    if policy == .error || !isMine && !storeWins {
      if !isMine { committed.nodes[number] = nil }
      try expectFailure(.mergeConflict)
      // The object is then a fault without a row, and leaves the context with the merge.
      if !isMine { objects[number] = nil }
      try rollback()
      try take(inbox)
      return becomeMurky()
    }
    if isMine, storeWins {
      world.nodes[number]?.values.merge(committed.nodes[number]?.values ?? [:]) { $1 }
    } else {
      world.nodes[number] = nil
    }
    try context.save()
    try adoptTransients()
    try noteSaved()
    try take(inbox)
    becomeMurky()
  }

  /// Gives a new object the unique value of a saved object.
  func uniqueConflict(_ a: Int, _ b: Int) throws {
    guard level == 0, world.nodes.count < 12 else { return }
    try endEvent()
    guard let number = pick(a, where: { committed.nodes[$0] != nil }), let code = world.nodes[number]?.values["code"]
    else { return }
    let policy = Policy(rawValue: b % 5) ?? .error
    try insert(isLeaf: false, friend: nil)
    guard let new = objects.keys.max(), let name = world.nodes[new]?.values["name"] else { return }
    log.append("which has the code of #\(number); save with policy \(policy)")
    try object(new).setValue(code, forKey: "code")
    context.mergePolicy = policy.policy
    defer { context.mergePolicy = .error }
    guard policy != .error else {
      world.nodes[new]?.values["code"] = code
      try expectFailure(.constraintConflict)
      return try rollback()
    }
    try context.save()
    world.nodes[new] = nil
    if policy == .object || policy == .overwrite { world.nodes[number]?.values["name"] = name }
    if policy == .overwrite {
      for key in ["number", "data", "note"] { world.nodes[number]?.values[key] = ReferenceModel.defaults[key] }
      for link in ReferenceModel.links where !link.isToMany && !link.isTransient { world.set(number, link, to: nil) }
    }
    if objects[new]?.managedObjectContext != nil { mistakes.append("#\(new) is still here") }
    try noteSaved()
    becomeMurky()
  }
}
