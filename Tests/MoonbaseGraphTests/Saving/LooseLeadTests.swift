import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Deletion of destinations of relationships without an inverse.
@Suite struct LooseLeadTests {
  /// `pal` and `any` have no inverse, `guest` is not saved.
  private static var model: ManagedObjectModel {
    var node = EntityDescription("P")
    node.attributes = [AttributeDescription("n", type: .integer64)]
    let (pal, any) = (
      RelationshipDescription.toOne("pal", destination: "P"), RelationshipDescription.toMany("any", destination: "P")
    )
    var guest = RelationshipDescription.toOne("guest", destination: "P")
    guest.isTransient = true
    node.relationships = [pal, any, guest]
    return ManagedObjectModel(entities: [node])
  }

  @Test(arguments: StoreKind.allCases) func whatLeadsToAnObjectThatGoesForgetsIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    let (old, holder) = (try context.insert("P"), try context.insert("P"))
    try old.add(holder, to: "any")
    try context.save()
    for isHeldByOld in [true, false] {
      let leading = isHeldByOld ? old : try context.insert("P")
      let new = try context.insert("P")
      for key in ["pal", "guest"] { try leading.setObject(new, forKey: key) }
      try leading.add(new, to: "any")
      try context.delete(new)
      try context.processPendingChanges()
      for key in ["pal", "guest"] { #expect(try leading.object(forKey: key) == nil) }
      #expect(try leading.objects(forKey: "any") == (isHeldByOld ? [holder] : []))
      try context.save()
    }
    try old.setObject(holder, forKey: "guest")
    try context.delete(holder)
    try context.save()
    #expect(try old.objects(forKey: "any").isEmpty)
    #expect(try old.object(forKey: "guest") == nil)
  }

  @Test(arguments: StoreKind.allCases) func aNewObjectThatUndoingBringsBackIsStillForgotten(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    let (holder, new) = (try context.insert("P"), try context.insert("P"))
    try holder.setObject(new, forKey: "pal")
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.undoingOnFailure {
        try context.delete(new)
        try context.processPendingChanges()
        #expect(try holder.object(forKey: "pal") == nil)
        throw Stop()
      }
    }
    #expect(try holder.object(forKey: "pal") == new)
    try context.delete(new)
    try context.processPendingChanges()
    #expect(try holder.object(forKey: "pal") == nil)
  }

  /// The deletion visits neither all registered objects nor all changed ones.
  @Test(arguments: StoreKind.allCases) func aDeletionCostsWhatLedThere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    let saved = try (0..<2000).map { _ in try context.insert("P") }
    for (one, other) in zip(saved, saved.dropFirst()) { try one.setObject(other, forKey: "pal") }
    try context.save()
    let doomed = try context.insert("P")
    try context.save()
    let units = try HostWorkMeter.units {
      for _ in 0..<10 {
        let new = try context.insert("P")
        try saved[0].setObject(new, forKey: "pal")
        try context.delete(new)
        try context.processPendingChanges()
      }
      try context.delete(doomed)
      try context.save()
    }
    #expect(units < 1000, "\(units)")
    #expect(saved.count == 2000)
  }
}
