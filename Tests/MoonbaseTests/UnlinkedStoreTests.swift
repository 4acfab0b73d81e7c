import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Stores named by scripts are opened where access was granted, even if folders on the path are replaced.
@Suite struct UnlinkedStoreTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try #require(FileIdentity.truePath(folder.file("").path))
    for name in ["inside", "inside/folder", "outside"] { mkdir("\(root)/\(name)", 0o755) }
  }

  private static let model: ManagedObjectModel = {
    var entity = EntityDescription("Row")
    entity.attributes = [AttributeDescription("v", type: .string)]
    var model = ManagedObjectModel()
    model.entities = [entity]
    return model
  }()

  private func open(_ name: String) throws -> PersistentContainer {
    try UnlinkedPath.$isRequired.withValue(true) {
      try PersistentContainer(model: Self.model, store: .sqlite(URL(fileURLWithPath: "\(root)/inside/folder/\(name)")))
    }
  }

  private func outside() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: "\(root)/outside") }

  /// Replaces the folder by a link, or restores the folder.
  private static func swap(_ root: String, toLink: Bool) {
    if toLink {
      rename("\(root)/inside/folder", "\(root)/inside/kept")
      symlink("../outside", "\(root)/inside/folder")
    } else {
      unlink("\(root)/inside/folder")
      rename("\(root)/inside/kept", "\(root)/inside/folder")
    }
  }

  @Test func aLinkThatStandsInTheWayIsNotFollowed() throws {
    Self.swap(root, toLink: true)
    #expect(throws: (any Error).self) { try open("a.sqlite") }
    #expect(try outside() == [])
    Self.swap(root, toLink: false)
    let container = try open("a.sqlite")
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("Row")
    // Journal, log and further connections are opened later than the store.
    Self.swap(root, toLink: true)
    try? context.save()
    _ = try? ManagedObjectContext(container.coordinator, extensions: container.extensions).count(FetchRequest("Row"))
    #expect(try outside() == [])
    Self.swap(root, toLink: false)
  }

  /// Renaming folders during the opening gives no access to other files.
  @Test func aLinkThatComesWhileTheStoreIsOpenedIsNotFollowed() throws {
    let root = root
    let isOver = Lock(false)
    let isDone = Lock(false)
    let swapper = Thread {
      while !isOver.withLock({ $0 }) {
        Self.swap(root, toLink: true)
        Self.swap(root, toLink: false)
      }
      isDone.withLock { $0 = true }
    }
    swapper.start()
    var opened = 0
    for number in 0..<60 {
      guard let container = try? open("s\(number).sqlite") else { continue }
      opened += 1
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      guard (try? context.insert("Row")) != nil else { continue }
      try? context.save()
    }
    isOver.withLock { $0 = true }
    while !isDone.withLock({ $0 }) { usleep(1000) }
    #expect(try outside() == [], "\(opened) were opened")
  }
}
