import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Values and relationships set through any accessor of an object, one or several at once.
extension Replica {
  /// Sets one to three attributes of an object, each through a different accessor.
  func setByDoor(_ number: Int?, _ b: Int, _ c: Int) throws {
    guard let number else { return }
    for round in 0...(c % 3) {
      let keys = isPlain ? ["name", "number", "code", "note"] : ValueDoor.keys
      let key = keys[(b / (round + 1)) % keys.count]
      var door = ValueDoor.allCases[(c / (round + 2)) % ValueDoor.allCases.count]
      // A primitive value is no undo step.
      if door == .primitive, undo != nil { door = .typedKey }
      let value = (b + c) % 7 == 0 && key != "number" ? .null : freshValue(key)
      log.append("#\(number).\(key) = \(value) by \(door)")
      if door == .primitive { touched.insert(number) }
      try door.set(value, key, of: object(number))
      change { $0.nodes[number]?.values[key] = value }
    }
  }

  /// Sets a relationship by a typed key, a value, a key path or a mutable set.
  func relateByDoor(_ number: Int?, _ b: Int, _ c: Int) throws {
    guard let number else { return }
    let link = freeLinks[b % freeLinks.count]
    let other = pick(c / 4) { $0 != number }
    touched.formUnion([number, other].compactMap { $0 })
    if link.isToMany { try relateList(number, link, to: other, c) } else { try relateOne(number, link, to: other, c) }
  }

  private func relateOne(_ number: Int, _ link: ReferenceModel.Link, to other: Int?, _ c: Int) throws {
    let (object, other) = (try object(number), c % 5 == 0 ? nil : other)
    let destination = try other.map(self.object)
    let value = destination.map { Value.objectID($0.objectID) } ?? .null
    log.append("#\(number).\(link.name) = \(other.map { "#\($0)" } ?? "nil") by door \(c % 4)")
    switch c % 4 {
    case 0: try object.setValue(value, forKey: link.name)
    case 1: object[link.name] = value
    case 2: (object as? ReferenceNode)?[ToOne<ReferenceNode, ReferenceNode>(link.name)] = destination as? ReferenceNode
    default: try object.setValuesForKeys([link.name: value])
    }
    change { $0.set(number, link, to: other) }
  }

  private func relateList(_ number: Int, _ link: ReferenceModel.Link, to other: Int?, _ c: Int) throws {
    guard let other else { return }
    let (object, member) = (try object(number), try object(other))
    let isMember = world.leads(number, link, to: other)
    log.append("#\(number).\(link.name) \(isMember ? "-" : "+") #\(other) by door \(c % 3)")
    switch (c % 3, link.isOrdered) {
    case (0, true):
      let set = try object.mutableOrderedSetValue(forKey: link.name)
      if isMember { try set.remove(member) } else { try set.append(member) }
    case (0, false):
      let set = try object.mutableSetValue(forKey: link.name)
      if isMember { try set.remove(member) } else { try set.insert(member) }
    case (let way, _):
      var members = try object.objects(forKey: link.name)
      if isMember { members.removeAll { $0 === member } } else { members.append(member) }
      if way == 1 {
        try object.setValue(.list(members.map { .objectID($0.objectID) }), forKey: link.name)
      } else {
        let key = ToMany<ReferenceNode, ReferenceNode>(link.name)
        (object as? ReferenceNode)?[key] = members.compactMap { $0 as? ReferenceNode }
      }
    }
    change { isMember ? $0.remove(other, from: number, link) : $0.add(other, to: number, link) }
  }

  /// Changes within a savepoint that fails are reverted; earlier changes stay.
  func failSavepoint(_ operation: ReferenceOperation) throws {
    log.append("begin a savepoint")
    let (before, touchedBefore, wasDirty) = (world, touched, isDirty)
    let kinds: [ReferenceOperation.Kind] = [.setByDoor, .relate, .setByDoor, .relateByDoor, .delete, .order, .assign]
    try expectFailure {
      try context.undoingOnFailure {
        for round in 0..<(1 + operation.c % 4) {
          let (a, b, c) = (operation.a / (round + 1), operation.b / (round + 2), operation.c / (round + 1))
          try run(ReferenceOperation(kind: kinds[(a + c) % kinds.count], a: a, b: b, c: c))
        }
        if operation.a % 2 == 0 { try check(isThorough: true) }
        throw Broken()
      }
    }
    log.append("which fails")
    (world, touched, isDirty) = (before, touchedBefore, wasDirty)
  }
}
