import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Keyed archives that Core Data's default transformer wrote.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealArchiveTests {
  private func context(over name: String, in folder: TemporaryFolder) throws -> ManagedObjectContext {
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model))
    return ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
  }

  @Test(arguments: RealStores.all) func everyArchiveIsRead(_ name: String) throws {
    let folder = try TemporaryFolder()
    let context = try context(over: name, in: folder)
    for entity in context.model.entities where !entity.isAbstract {
      for attribute in entity.properties.compactMap(\.attribute) where !attribute.isTransient {
        guard attribute.type == .transformable || attribute.type == .binaryData else { continue }
        for object in try context.fetch(FetchRequest(entity.name)) {
          let value = try object.value(forKey: attribute.name)
          guard case .data(let data) = value, PropertyList.isBinary(data) else { continue }
          let plist = try PropertyList(binary: data)
          // Some archives have no root and are lists of fields.
          guard plist["$top"]?["root"] != nil else { continue }
          #expect(try !ValueArchive.value(of: data).isNull)
        }
      }
    }
    #expect(!context.hasChanges)
  }

  @Test func anObjectOfTheAppIsAMap() throws {
    let folder = try TemporaryFolder()
    let context = try context(over: "CoreDataPlus-SampleModel2_V1", in: folder)
    let page = try #require(try context.fetch(FetchRequest("Page")).first)
    let value = try page.value(forKey: "content")
    let archived = if case .data(let data) = value { try ValueArchive.value(of: data) } else { value }
    guard case .map(let map) = archived, case .string(let text)? = map["text"] else { throw CancellationError() }
    #expect(map["$class"] == "Content" && text.hasPrefix("content for page"))
  }
}
