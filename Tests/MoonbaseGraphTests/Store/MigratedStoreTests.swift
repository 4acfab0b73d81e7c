import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import struct MoonbaseModel.SortDescriptor

/// Migrating all objects of a store to a store that replaces it.
@Suite struct MigratedStoreTests {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    var model = People.model()
    model.entities[0].attributes.append(
      AttributeDescription("photo", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true })
    model.entities[0].relationships += [
      .toMany("bookmarks", destination: "Project"), .toOne("partner", destination: "Person", inverse: "partner"),
    ]
    model.entities[0].relationships.append(
      RelationshipDescription.toMany("likes", destination: "Project", inverse: "likers").ordered())
    model.entities[3].relationships.append(.toMany("likers", destination: "Person", inverse: "likes"))
    coordinator = PersistentStoreCoordinator(model: try model.resolved())
  }

  private var context: ManagedObjectContext {
    ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
  }

  /// The contents, with names instead of IDs.
  private func contents() throws -> [String] {
    let context = context
    func name(_ object: ManagedObject) -> String {
      for key in ["firstName", "name", "title"] where object.entity.property(key) != nil {
        return object[key].string ?? "-"
      }
      return "?"
    }
    var lines: [String] = []
    for entity in ["Person", "Department", "Project"] {
      for object in try context.fetch(FetchRequest(entity)) {
        var line = "\(object.entity.name) \(name(object))"
        for property in object.entity.properties where !property.isTransient {
          switch property.kind {
          case .attribute: line += " \(property.name)=\(try object.value(forKey: property.name))"
          case .toOne: line += " \(property.name)=\(try object.object(forKey: property.name).map(name) ?? "-")"
          case .toMany:
            let members = try object.objects(forKey: property.name).map(name)
            let isOrdered = property.relationship?.isOrdered == true
            line += " \(property.name)=\((isOrdered ? members : members.sorted()).joined(separator: ","))"
          }
        }
        lines.append(line)
      }
    }
    return lines.sorted()
  }

  private func fill(_ count: Int = 60) throws {
    let context = context
    var people: [ManagedObject] = []
    for number in 0..<count {
      let person = try context.insert(
        number % 3 == 0 ? "Employee" : "Person",
        values: [
          "firstName": .string("p\(number)"), "age": .int(Int64(number % 100)),
          "photo": number % 100 == 0 ? .data(Data(repeating: UInt8(number / 100), count: 300_000)) : .null,
        ])
      for other in people.suffix(number % 3) { try person.add(other, to: "friends") }
      if number % 50 == 1 { try person.setObject(people[number - 1], forKey: "partner") }
      people.append(person)
    }
    for number in 0..<5 {
      let department = try context.insert("Department", values: ["name": .string("d\(number)")])
      try department.setObjects(people.filter { $0["age"] == .int(Int64(number)) }, forKey: "employees")
      for title in ["c", "a", "b"] {
        let project = try context.insert("Project", values: ["title": .string("\(title)\(number)")])
        try project.setObject(department, forKey: "department")
        try people[number].add(project, to: "bookmarks")
        try people[9 - number].add(project, to: "likes")
      }
    }
    try context.save()
    // Leaves gaps between keys.
    try context.delete(people[5])
    try context.save()
  }

  private static let ways: [(StoreKind, StoreKind)] = [
    (.memory, .sqlite), (.sqlite, .memory), (.sqlite, .sqlite), (.memory, .folder), (.folder, .sqlite),
  ]

  @Test(arguments: ways) func allObjectsAreInTheOtherStore(_ from: StoreKind, _ to: StoreKind) throws {
    let old = try from.store(for: coordinator.model, in: folder)
    try coordinator.add(old)
    try fill(700)
    try old.setMetadata(["colour": "red"])
    let before = try contents()
    #expect(before.count == 719)
    let new = try to.store(for: coordinator.model, in: folder)
    try coordinator.migratePersistentStore(old, to: new)
    #expect(coordinator.persistentStores.map(\.identifier) == [new.identifier])
    #expect(try contents() == before)
    #expect(try new.metadata()["colour"] == "red")
    // Keys are unchanged, and new keys follow them.
    let context = context
    let first = try #require(context.fetch(FetchRequest("Project", where: "title == 'c0'")).first)
    #expect(first.objectID.key == 1)
    let person = try context.insert("Person", values: ["firstName": "new"])
    try context.save()
    #expect(person.objectID.key == 701)
    // The old store is unchanged.
    try coordinator.remove(new)
    try coordinator.add(old)
    #expect(try contents() == before)
  }

  @Test(arguments: StoreKind.allCases) func whatHasNoPlaceIsRefusedAndNothingChanges(_ kind: StoreKind) throws {
    let old = try kind.store(for: coordinator.model, in: folder)
    try coordinator.add(old)
    try fill()
    let before = try contents()
    let full = try kind.store(for: coordinator.model, in: folder)
    let other = PersistentStoreCoordinator(model: coordinator.model)
    try other.add(full)
    let context = ManagedObjectContext(other, extensionRegistry: ExtensionRegistry())
    try context.insert("Department")
    try context.save()
    for (refused, message) in [(full, "has 1 object of Department already"), (old, "is open here already")] {
      let error = #expect(throws: GraphError.self) { try coordinator.migratePersistentStore(old, to: refused) }
      #expect(error?.message.contains(message) == true && error?.code == .invalidRequest)
    }
    let empty = try kind.store(for: coordinator.model, in: folder)
    #expect(throws: GraphError.self) { try coordinator.migratePersistentStore(full, to: empty) }
    #expect(coordinator.persistentStores.map(\.identifier) == [old.identifier])
    #expect(try contents() == before)
  }

  @Test(arguments: StoreKind.allCases) func aStoreThatIsRemovedMeanwhileHasNoPlaceToTake(_ kind: StoreKind) throws {
    let old = FailingStore(try kind.store(for: coordinator.model, in: folder))
    try coordinator.add(old)
    try fill()
    let new = try kind.store(for: coordinator.model, in: folder)
    old.meddle { [coordinator] in try coordinator.remove(old) }
    let error = #expect(throws: GraphError.self) { try coordinator.migratePersistentStore(old, to: new) }
    #expect(error?.code == .invalidRequest && error?.message.contains("is not open here") == true)
    #expect(coordinator.persistentStores.isEmpty)
    try coordinator.add(new)
    #expect(throws: GraphError.self) { try coordinator.remove(old) }
  }

  @Test(arguments: StoreKind.allCases, 1...12) func aFailureLeavesTheOldStoreInItsPlace(_ kind: StoreKind, _ call: Int)
    throws
  {
    let old = try kind.store(for: coordinator.model, in: folder)
    try coordinator.add(old)
    try fill()
    let before = try contents()
    let new = FailingStore(try kind.store(for: coordinator.model, in: folder))
    new.fail(onceAfterCalls: call - 1)
    do {
      try coordinator.migratePersistentStore(old, to: new)
    } catch {
      #expect(coordinator.persistentStores.map(\.identifier) == [old.identifier])
      #expect(try contents() == before)
      // A later save succeeds.
      try fill()
    }
  }
}
