import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A store written outside the package keeps its rows; contexts over it are tested beside the other stores.
@Suite struct FolderStoreTests {
  @Test func rowsLinksOrderAndMetadataAreThereWhenTheFolderIsOpenedAgain() throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    func open() throws -> (FolderStore, ManagedObjectContext) {
      let store = try FolderStore(folder: folder.file("people"), model: model)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      return (store, try ManagedObjectContext(coordinator))
    }
    let (first, context) = try open()
    let born = Value.date(Date(timeIntervalSinceReferenceDate: 0.1))
    let ada = try context.insert("Person", values: ["firstName": "a\t\\n\nb", "age": 7, "born": born])
    try ada.add(context.insert("Employee", values: ["firstName": "Bob", "salary": 0.1]), to: "friends")
    let department = try context.insert("Department")
    for title in ["c", "a", "b"] {
      try department.add(context.insert("Project", values: ["title": .string(title)]), to: "projects")
    }
    try context.save()
    try first.setMetadata(["mark": "x"])
    let (second, other) = try open()
    #expect(second.identifier == first.identifier)
    #expect(second.metadata()["mark"] == "x")
    let found = try other.object(with: ada.objectID)
    #expect(try found.value(forKey: "firstName") == "a\t\\n\nb" && found.value(forKey: "born") == born)
    #expect(try found.objects(forKey: "friends").map { try $0.value(forKey: "salary") } == [0.1])
    let titles = try other.object(with: department.objectID).objects(forKey: "projects").map {
      try $0.value(forKey: "title")
    }
    #expect(titles == ["c", "a", "b"])
    // Keys are not reused, and the next save continues from there.
    let next = try other.insert("Person")
    try other.save()
    #expect(try other.count(FetchRequest("Person")) == 3 && next.objectID != ada.objectID)
  }
}
