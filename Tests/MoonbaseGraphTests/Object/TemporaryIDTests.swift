import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Temporary IDs in values that no save writes are still replaced by the permanent IDs.
@Suite struct TemporaryIDTests {
  /// Notes have transient values and relationships without an inverse.
  private static func model() -> ManagedObjectModel {
    var note = EntityDescription("Note")
    var id = AttributeDescription("id", type: .objectID)
    id.isTransient = true
    note.attributes = [AttributeDescription("text", type: .string), id]
    var place = RelationshipDescription.toOne("place", destination: "Note")
    place.isTransient = true
    var list = RelationshipDescription.toMany("list", destination: "Note")
    list.isTransient = true
    note.relationships = [
      place, list, .toOne("next", destination: "Note"), .toMany("others", destination: "Note"),
    ]
    return ManagedObjectModel(entities: [note])
  }

  /// A saved note, whose `awakeFromFetch` inserts another note.
  private func woken(
    _ kind: StoreKind, _ wake: @escaping (ManagedObject, ManagedObject) throws -> Void
  ) throws -> (bench: StoreBench, context: ManagedObjectContext, note: ManagedObject, new: ManagedObject) {
    let bench = try StoreBench(kind, Self.model())
    let setUp = bench.stranger()
    try setUp.insert("Note", values: ["text": "old"])
    try setUp.save()
    var new: ManagedObject?
    var entry = EntityExtension()
    entry.awakeFromFetch = { note in
      guard new == nil, let context = note.managedObjectContext else { return }
      let other = try context.insert("Note", values: ["text": "new"])
      new = other
      try wake(note, other)
    }
    let context = bench.stranger(["Note": [entry]])
    let note = try #require(try context.fetch(FetchRequest("Note")).first)
    #expect(note["text"] == "old")
    return (bench, context, note, try #require(new))
  }

  @Test(arguments: StoreKind.allCases, ["place", "next"])
  func aDestinationSetOnAwakingIsThereAfterTheSave(_ kind: StoreKind, key: String) throws {
    let (bench, context, note, new) = try woken(kind) { try $0.setObject($1, forKey: key) }
    defer { withExtendedLifetime(bench) {} }
    try context.save()
    #expect(!new.objectID.isTemporaryID)
    #expect(try note.object(forKey: key) === new)
    // The next change saves the value set by `awakeFromFetch`.
    try note.setValue("changed", forKey: "text")
    try context.save()
    #expect(try note.object(forKey: key) === new && context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases, ["list", "others"])
  func aDestinationAddedOnAwakingIsThereAfterTheSave(_ kind: StoreKind, key: String) throws {
    let (bench, context, note, new) = try woken(kind) { try $0.add($1, to: key) }
    defer { withExtendedLifetime(bench) {} }
    try context.save()
    #expect(try note.objects(forKey: key) == [new] && !new.objectID.isTemporaryID)
    try note.setValue("changed", forKey: "text")
    try context.save()
    #expect(try note.objects(forKey: key) == [new])
    try context.refresh(note, mergeChanges: false)
    #expect(try note.objectIDs(forRelationshipNamed: key) == (key == "others" ? [new.objectID] : []))
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func anIDThatAPrimitiveSetterSetIsThatOfTheSavedObject(_ kind: StoreKind, rollingBack: Bool) throws {
    let bench = try StoreBench(kind, Self.model())
    let context = bench.context()
    let note = try context.insert("Note")
    try context.save()
    let new = try context.insert("Note")
    try note.setPrimitiveValue(.objectID(new.objectID), forKey: "id")
    if rollingBack {
      try context.rollback()
      #expect(!context.hasChanges)
    } else {
      try context.save()
      #expect(try note.value(forKey: "id") == .objectID(new.objectID) && !new.objectID.isTemporaryID)
    }
  }

  /// A value set by `awakeFromFetch` refers to an object that is rolled back: the value is discarded.
  @Test(arguments: StoreKind.allCases, ["place", "next", "list", "others"])
  func whatNamesAnObjectThatIsRolledBackIsGivenUp(_ kind: StoreKind, key: String) throws {
    let isToMany = ["list", "others"].contains(key)
    let (bench, context, note, new) = try woken(kind) {
      isToMany ? try $0.add($1, to: key) : try $0.setObject($1, forKey: key)
    }
    defer { withExtendedLifetime(bench) {} }
    try context.rollback()
    #expect(new.managedObjectContext == nil && !context.hasChanges)
    let shown = try isToMany ? note.objects(forKey: key) : [note.object(forKey: key)].compactMap(\.self)
    #expect(shown.isEmpty)
    try note.setValue("changed", forKey: "text")
    try context.save()
    #expect(!context.hasChanges && context.brokenInvariants().isEmpty)
  }
}
