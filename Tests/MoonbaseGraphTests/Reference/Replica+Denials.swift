import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// Deletions denied by a delete rule.
extension Replica {
  /// Makes one object the keeper of another, its ward, which denies the keeper's deletion.
  func keep(_ number: Int?, _ b: Int, _ c: Int) throws {
    // Applies pending deletions first, so that all deleted objects are known.
    try endEvent()
    guard let number, world.nodes[number] != nil else { return }
    guard c % 4 != 0 else { return try setKeeper(of: number, to: nil) }
    guard let keeper = pick(b, where: { $0 != number }) else { return }
    guard c % 2 == 0 else { return try setKeeper(of: number, to: keeper) }
    log.append("#\(keeper).wards + #\(number)")
    try object(keeper).add(object(number), to: "wards")
    change { $0.add(number, to: keeper, ReferenceModel.link("wards")) }
    touched.formUnion([number, keeper])
  }

  func setKeeper(of number: Int, to keeper: Int?) throws {
    log.append("#\(number).keeper = \(keeper.map { "#\($0)" } ?? "nil")")
    touched.formUnion([number, keeper].compactMap { $0 })
    try object(number).setObject(keeper.map(object), forKey: "keeper")
    change { $0.set(number, ReferenceModel.link("keeper"), to: keeper) }
  }

  /// Frees the wards that an operation gave to children of deleted objects.
  func releaseWards() throws {
    guard !world.marked.isEmpty else { return }
    for number in world.wards(leftBy: world.marked) { try setKeeper(of: number, to: nil) }
  }

  /// Deletes an object that has wards: the save fails and changes nothing. Then the deletion is rolled back or undone,
  /// or the wards are deleted or moved.
  func denyDeletion(_ a: Int, _ b: Int, _ c: Int) throws {
    guard level == 0 else { return }
    try endEvent()
    guard let number = pick(a), let ward = pick(b, where: { $0 != number }) else { return }
    if world.wards(leftBy: [number]).isEmpty { try setKeeper(of: ward, to: number) }
    try endEvent()
    let wards = world.wards(leftBy: [number])
    guard !wards.isEmpty else { return }
    log.append("delete #\(number), which \(wards) deny")
    try context.delete(object(number))
    try expectDenial()
    mistakes += context.brokenInvariants()
    switch c % 4 {
    case 0: return try rollback()
    case 1:
      guard let undo, !isMurky else { return try rollback() }
      log.append("undo")
      // The open group contains only the deletion.
      try undo.undo()
      return try forgetGroups()
    case 2:
      change { $0.marked.insert(number) }
      touched.insert(number)
      while let ward = world.wards(leftBy: world.marked).first {
        log.append("delete #\(ward) too")
        try context.delete(object(ward))
        change { $0.marked.insert(ward) }
        touched.insert(ward)
      }
    default:
      for ward in wards { try setKeeper(of: ward, to: nil) }
      change { $0.marked.insert(number) }
      touched.insert(number)
    }
    try save()
  }

  func expectDenial() throws {
    log.append("save")
    do {
      try context.save()
    } catch let error as GraphError {
      let all = error.details.isEmpty ? [error] : error.details
      if !all.contains(where: { $0.code == .relationshipDeniedDelete && $0.property == "wards" }) { throw error }
      return
    }
    throw ReferenceMistake("the deletion was not denied")
  }
}
