import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// A refresh is no undo step: earlier changes are undone over the refreshed rows.
@Suite struct UndoAfterRefreshTests {
  /// A refreshed object is deleted by a cascade, because its newly read row refers to a deleted object. Undo restores
  /// the refreshed object without the reference, since the other object is still deleted; a second undo restores both.
  @Test(arguments: StoreKind.allCases) func whatGoesBecauseItIsReadAnewComesBackApart(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, ReferenceModel.model())
    for isSaved in [true, false] {
      let (context, undo) = undoing(bench.context())
      let mother = try context.insert("Node")
      let child = try context.insert("Node", values: ["parent": .objectID(mother.objectID)])
      try child.add(mother, to: "friends")
      try context.save()
      try child.setObject(nil, forKey: "parent")
      try context.delete(mother)
      try context.processPendingChanges()
      try context.refresh(child, mergeChanges: false)
      #expect(child.isDeleted && mother.isDeleted)
      try undo.undo()
      #expect(try !child.isDeleted && mother.isDeleted && child.object(forKey: "parent") == nil)
      if !isSaved { try undo.undo() }
      try context.save()
      #expect(context.brokenInvariants() == [])
      let reader = bench.stranger()
      let there = try #require(try reader.existingObject(with: child.objectID))
      #expect(try there.object(forKey: "parent")?.objectID == (isSaved ? nil : mother.objectID))
      #expect(try child.object(forKey: "parent") == (isSaved ? nil : mother))
    }
  }

  /// A member removed from a list before the list's owner was deleted stays out of the list after the deletion is
  /// undone, even if the member was refreshed meanwhile.
  @Test(arguments: StoreKind.allCases, [true, false])
  func whatLeftAListIsNotInItWhenTheOwnerComesBack(_ kind: StoreKind, _ isMoved: Bool) throws {
    let bench = try StoreBench(kind, ReferenceModel.model())
    let (context, undo) = undoing(bench.context())
    let (shelf, other) = (try context.insert("Node"), try context.insert("Node"))
    let books = try (0..<3).map { _ in try context.insert("Node") }
    try shelf.setObjects(books, forKey: "books")
    try context.save()
    try books[1].setObject(isMoved ? other : nil, forKey: "shelf")
    try context.processPendingChanges()
    try context.delete(shelf)
    try context.processPendingChanges()
    for _ in 0..<2 { try context.refresh(books[1], mergeChanges: false) }
    #expect(try books[1].object(forKey: "shelf") == nil && other.objects(forKey: "books").isEmpty)
    try undo.undo()
    #expect(try shelf.objects(forKey: "books") == [books[0], books[2]] && books[1].object(forKey: "shelf") == nil)
    #expect(context.brokenInvariants() == [])
    try context.save()
    let reader = bench.stranger()
    let saved = try reader.object(with: shelf.objectID).objectIDs(forRelationshipNamed: "books")
    #expect(saved == [books[0].objectID, books[2].objectID])
    #expect(try reader.object(with: books[1].objectID).object(forKey: "shelf") == nil)
  }

  /// A member removed from its owner, whose owner was then deleted, is refreshed and so deleted by the cascade. Undoing
  /// the owner's deletion does not restore the reference: a refresh is no undo step.
  @Test(arguments: StoreKind.allCases) func whatGoesBecauseItIsReadAnewIsNoDestination(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, ReferenceModel.model())
    let (context, undo) = undoing(bench.context())
    let (mother, child) = (try context.insert("Node"), try context.insert("Node"))
    try mother.add(child, to: "children")
    try context.save()
    try child.setObject(nil, forKey: "parent")
    try context.processPendingChanges()
    try context.delete(mother)
    try context.processPendingChanges()
    try context.refresh(child, mergeChanges: false)
    #expect(child.isDeleted)
    try undo.undo()
    #expect(try !mother.isDeleted && child.isDeleted && mother.objects(forKey: "children").isEmpty)
    try context.save()
    let reader = bench.stranger()
    #expect(try reader.object(with: mother.objectID).objects(forKey: "children").isEmpty)
    #expect(child.managedObjectContext == nil && context.brokenInvariants() == [])
  }

  /// A newer row puts a member into a list whose owner is deleted. The member is in no list, neither then nor after the
  /// deletion is undone.
  @Test(arguments: StoreKind.allCases, [true, false])
  func whatCameIntoAListByANewerRowIsNotInItWhenTheOwnerComesBack(_ kind: StoreKind, _ keepsChanges: Bool) throws {
    let bench = try StoreBench(kind, ReferenceModel.model())
    let (context, undo) = undoing(bench.context())
    let (shelf, book) = (try context.insert("Node"), try context.insert("Node"))
    try context.save()
    // The object's unsaved changes concern another property, or the refresh discards them.
    if keepsChanges {
      try book.setValue("a", forKey: "name")
    } else {
      try book.setObject(context.insert("Node"), forKey: "shelf")
    }
    try context.processPendingChanges()
    try context.delete(shelf)
    try context.processPendingChanges()
    let other = bench.stranger()
    try other.object(with: book.objectID).setObject(other.object(with: shelf.objectID), forKey: "shelf")
    try other.save()
    try context.refresh(book, mergeChanges: keepsChanges)
    #expect(try book.object(forKey: "shelf") == nil)
    try undo.undo()
    #expect(try !shelf.isDeleted && shelf.objects(forKey: "books").isEmpty && book.object(forKey: "shelf") == nil)
    #expect(context.brokenInvariants() == [])
  }

  /// Undo restores a member's position as far as members added meanwhile permit; an order that differs from the row is
  /// saved.
  @Test(arguments: StoreKind.allCases) func anOrderThatIsUndoneAfterARefreshIsSavedAsItShows(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let writer = bench.context()
    let departments = try (0..<2).map { _ in try writer.insert("Department") }
    let titles = ["a", "b", "c"]
    let projects = try titles.map { try writer.insert("Project", values: ["title": .string($0)]) }
    try departments[0].setObjects(projects, forKey: "projects")
    try writer.save()
    let (context, undo) = undoing(bench.context())
    let (own, other) = (
      try context.object(with: departments[0].objectID), try context.object(with: departments[1].objectID)
    )
    let moved = try projects[1...].map { try context.object(with: $0.objectID) }
    for project in moved {
      try project.setObject(other, forKey: "department")
      try context.processPendingChanges()
    }
    try context.refresh(moved[0], mergeChanges: false)
    try undo.undo()
    let shown = try own.objectIDs(forRelationshipNamed: "projects")
    #expect(Set(shown) == Set(projects.map(\.objectID)))
    try context.save()
    let reader = bench.stranger()
    #expect(try reader.object(with: own.objectID).objectIDs(forRelationshipNamed: "projects") == shown)
  }
}
