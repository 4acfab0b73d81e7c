import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Operations on objects.
extension Replica {
  func run(_ operation: ReferenceOperation) throws {
    guard !isPlain || ReferenceOperation.Kind.plain.contains(operation.kind) else { return }
    let (a, b, c) = (operation.a, operation.b, operation.c)
    switch operation.kind {
    case .insert:
      guard world.nodes.count < 12 else { return }
      try insert(isLeaf: a % 3 == 0, friend: b % 2 == 0 && !isPlain ? pick(b) : nil)
    case .set: try set(pick(a), ReferenceModel.keys[b % 4])
    case .primitiveSet: try setPrimitive(pick(a), ["name", "number"][b % 2])
    case .relate: try relate(pick(a), freeLinks[b % freeLinks.count], c)
    case .assign: try assign(pick(a), b, c)
    case .order: try order(pick(a), ReferenceModel.link(b % 2 == 0 ? "books" : "likes"), c)
    case .delete: try delete(pick(a))
    case .read: try read(pick(a), b)
    case .fetch: try fetch(b)
    case .endEvent: try endEvent()
    case .undo: try goBack()
    case .redo: try goForth()
    case .undoWithoutStore: try goBackWithoutStore(a % 6)
    case .beginGroup: try beginGroup()
    case .endGroup: try endExplicitGroup()
    case .forgetGroups: try forgetGroups()
    case .save: try save()
    case .failCommit: try failSave(0)
    case .failWillSave: try failSave(a % 2 == 0 ? 2 : 4)
    case .failInsertion: try failInsertion()
    case .failDeletion: try failDeletion(pick(a))
    case .failTransaction: try failTransaction(operation)
    case .rollback: try rollback()
    case .refresh: try refresh(pick(a) { committed.nodes[$0] != nil })
    case .refreshAll: try refreshAll()
    case .giveUp: try giveUp(pick(a) { committed.nodes[$0] != nil })
    case .reopen: try reopen()
    case .merge: try merge(a, b, c)
    case .conflict: try conflict(a, b, c)
    case .conflictOfDeletion: try conflictOfDeletion(a, b)
    case .uniqueConflict: try uniqueConflict(a, b)
    case .keep: try keep(pick(a), b, c)
    case .denyDeletion: try denyDeletion(a, b, c)
    case .childSave: try saveChild(operation)
    case .childConflict: try conflictWithChild(a, b)
    case .changeInHook: try changeInHook(operation)
    case .setByDoor: try setByDoor(pick(a), b, c)
    case .relateByDoor: try relateByDoor(pick(a), b, c)
    case .failSavepoint: try failSavepoint(operation)
    }
    try releaseWards()
  }

  func insert(isLeaf: Bool, friend: Int?) throws {
    let number = nextNumber()
    log.append("insert #\(number)\(friend.map { " with friend #\($0)" } ?? "")")
    var values: [String: Value] = ["code": .string("c\(number)"), "name": freshValue("name")]
    let plain = values
    if let friend { values["friends"] = .list([.objectID(try object(friend).objectID)]) }
    objects[number] = try context.insert(isLeaf ? "Leaf" : "Node", values: values)
    change { world in
      world.insert(number, isLeaf: isLeaf, plain)
      if let friend { world.add(friend, to: number, ReferenceModel.link("friends")) }
    }
  }

  func set(_ number: Int?, _ key: String) throws {
    guard let number else { return }
    let value = freshValue(key)
    log.append("#\(number).\(key) = \(value)")
    try object(number).setValue(value, forKey: key)
    change { $0.nodes[number]?.values[key] = value }
  }

  /// A primitive value alone is no undo step, so recorded groups would no longer restore the model's states.
  private func setPrimitive(_ number: Int?, _ key: String) throws {
    guard let number, level == 0 else { return }
    try endEvent()
    guard world.nodes[number] != nil else { return }
    let value = freshValue(key)
    log.append("primitive #\(number).\(key) = \(value)")
    let canUndo = undo?.canUndo
    try object(number).setPrimitiveValue(value, forKey: key)
    if undo?.canUndo != canUndo { mistakes.append("a primitive value is a step") }
    change { $0.nodes[number]?.values[key] = value }
    try forgetGroups()
  }

  private func relate(_ number: Int?, _ link: ReferenceModel.Link, _ c: Int) throws {
    guard let number else { return }
    let other = pick(c / 4) { $0 != number }
    touched.formUnion([number, other].compactMap { $0 })
    let object = try object(number)
    guard link.isToMany else {
      let other = c % 4 == 0 ? nil : other
      log.append("#\(number).\(link.name) = \(other.map { "#\($0)" } ?? "nil")")
      try object.setObject(other.map(self.object), forKey: link.name)
      return change { $0.set(number, link, to: other) }
    }
    let members = world.nodes[number]?.lists[link.name]?.filter { !world.marked.contains($0) } ?? []
    if c % 4 == 0, !members.isEmpty {
      let member = members[c / 4 % members.count]
      log.append("#\(number).\(link.name) - #\(member)")
      try object.remove(self.object(member), from: link.name)
      change { $0.remove(member, from: number, link) }
    } else if let other {
      log.append("#\(number).\(link.name) + #\(other)")
      try object.add(self.object(other), to: link.name)
      change { $0.add(other, to: number, link) }
    }
  }

  /// Replaces all destinations of a relationship.
  private func assign(_ number: Int?, _ b: Int, _ c: Int) throws {
    let links = freeLinks.filter(\.isToMany)
    guard let number else { return }
    let link = links[b % links.count]
    var list: [Int] = []
    for place in 0..<(c % 4) {
      if let other = pick(c / 4 + place * (1 + c % 3), where: { $0 != number && !list.contains($0) }) {
        list.append(other)
      }
    }
    log.append("#\(number).\(link.name) = \(list)")
    touched.formUnion(list + [number])
    try object(number).setObjects(list.map(object), forKey: link.name)
    change { $0.setList(number, link, to: list) }
  }

  private func order(_ number: Int?, _ link: ReferenceModel.Link, _ c: Int) throws {
    guard let number else { return }
    let (object, list) = (try object(number), world.nodes[number]?.lists[link.name] ?? [])
    guard let slot = object.entity.slot(link.name) else { return }
    touched.insert(number)
    if c % 3 == 0, let other = pick(c / 3, where: { $0 != number }) {
      let place = (c / 7) % (list.contains(other) ? list.count : list.count + 1)
      log.append("#\(number).\(link.name) insert #\(other) at \(place)")
      touched.insert(other)
      try object.insertMember(self.object(other).objectID, at: place, slot: slot)
      return change {
        $0.add(other, to: number, link)
        $0.move(other, of: number, link, to: place)
      }
    }
    guard list.count > 1 else { return }
    if c % 3 == 1 {
      let (from, to) = (c / 3 % list.count, c / 5 % list.count)
      log.append("#\(number).\(link.name) move \(from) to \(to)")
      try object.moveMember(from: from, to: to, slot: slot)
      return change { $0.move(list[from], of: number, link, to: to) }
    }
    let turned = Array(list[(c % list.count)...] + list[..<(c % list.count)].reversed())
    log.append("#\(number).\(link.name) in the order \(turned)")
    try object.setObjects(turned.map(self.object), forKey: link.name)
    change { $0.setList(number, link, to: turned) }
  }

  func delete(_ number: Int?) throws {
    guard let number, world.wards(leftBy: world.marked.union([number])).isEmpty else { return }
    log.append("delete #\(number)")
    try context.delete(object(number))
    change { $0.marked.insert(number) }
    touched.insert(number)
  }

  private func failDeletion(_ number: Int?) throws {
    guard let number else { return }
    log.append("fail to delete #\(number)")
    mode.value = 3
    defer { mode.value = 0 }
    try expectFailure { try context.delete(object(number)) }
  }

  private func failInsertion() throws {
    log.append("fail to insert")
    mode.value = 1
    defer { mode.value = 0 }
    try expectFailure { try context.insert("Node") }
  }

  func expectFailure(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch { return }
    throw ReferenceMistake("no error")
  }

  // MARK: Reading

  private func read(_ number: Int?, _ b: Int) throws {
    guard let number, let node = world.visible.nodes[number] else { return }
    let key = Array(ReferenceModel.defaults.keys.sorted())[b % ReferenceModel.defaults.count]
    log.append("read #\(number).\(key)")
    let value = try ValueDoor.value(key, of: object(number), way: b / 8)
    if value != node.values[key] { mistakes.append("#\(number).\(key) is \(value), not \(node.values[key] ?? .null)") }
  }

  /// A fetch applies delete rules and does not end a group.
  private func fetch(_ b: Int) throws {
    let name = world.nodes[pick(b) ?? 0]?.values["name"] ?? .null
    let request: FetchRequest =
      switch b % 4 {
      case 0: FetchRequest("Node")
      case 1: FetchRequest("Leaf")
      case 2: try FetchRequest("Node", where: "number > 0")
      default: try FetchRequest("Node", where: "name == %@", name)
      }
    log.append("fetch \(request.predicate.map { "\($0)" } ?? request.entityName)")
    let found = try Set(context.fetch(request))
    settleWorld()
    let wanted = world.nodes.filter { _, node in
      switch b % 4 {
      case 0: true
      case 1: node.isLeaf
      case 2: if case .int(let number)? = node.values["number"] { number > 0 } else { false }
      default: node.values["name"] == name
      }
    }
    let objects = Set(wanted.keys.compactMap { self.objects[$0] })
    if found != objects {
      mistakes.append(
        "the fetch found \(found.map(\.objectID)), not \(wanted.keys.sorted()) \(objects.map(\.objectID))")
    }
  }

  // MARK: Refreshing

  private func refresh(_ number: Int?) throws {
    // A refresh might otherwise apply pending delete rules through the row's references.
    try endEvent()
    guard let number, world.nodes[number] != nil else { return }
    log.append("refresh #\(number)")
    try context.refresh(object(number), mergeChanges: true)
  }

  private func refreshAll() throws {
    try endEvent()
    log.append("refresh all")
    try context.refreshAllObjects()
    try adoptTransients()
    // Recorded undo groups contain the discarded transient values.
    becomeMurky()
  }

  private func giveUp(_ number: Int?) throws {
    try endEvent()
    guard let number, let now = world.nodes[number], let saved = committed.nodes[number] else { return }
    // The keeper is deleted and would have a ward again, so its delete rule would deny the deletion.
    if let keeper = saved.ones["keeper"], world.nodes[keeper] == nil { return }
    // The object is deleted with the parent named by its row, if that parent is deleted, unless the object has wards.
    let goes = saved.ones["parent"].map { world.nodes[$0] == nil } ?? false
    let wards = goes ? world.wards(leftBy: [number]) : []
    log.append("give up #\(number)")
    try context.refresh(object(number), mergeChanges: false)
    if !wards.isEmpty {
      try expectDenial()
      for ward in wards { try setKeeper(of: ward, to: nil) }
    }
    guard now.persistent.ones == saved.ones, now.persistent.lists == saved.lists else {
      // Changes that its relationships made to other objects are discarded as far as both rows have them.
      try adopt()
      return becomeMurky()
    }
    let mood = now.values["mood"]
    world.nodes[number]?.values = saved.values
    world.nodes[number]?.values["mood"] = mood
    try adoptTransients()
    becomeMurky()
  }
}
