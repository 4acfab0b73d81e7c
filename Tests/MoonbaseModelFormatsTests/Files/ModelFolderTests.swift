import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

@Suite struct ModelFolderTests {
  /// A folder that is deleted with the test.
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ path: String, _ text: String) throws {
      let file = url.appendingPathComponent(path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }

    func read() throws -> ManagedObjectModel { try ManagedObjectModel.read(ModelSource(contentsOf: url)) }
  }

  private func contents(_ name: String) -> String { "<?xml version=\"1.0\"?><model><entity name=\"\(name)\"/></model>" }

  private func current(_ name: String) -> String {
    "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
  }

  @Test func aModelIsReadFromItsFolder() throws {
    let folder = try Folder()
    try folder.write("contents", contents("A"))
    #expect(try folder.read().entities.map(\.name) == ["A"])
  }

  @Test func theCurrentVersionIsTheModel() throws {
    let folder = try Folder()
    try folder.write("M.xcdatamodel/contents", contents("Old"))
    try folder.write("M 2.xcdatamodel/contents", contents("New"))
    try folder.write("M 10.xcdatamodel/contents", contents("Newest"))
    try folder.write(".xccurrentversion", current("M 2.xcdatamodel"))
    #expect(try folder.read().entities.map(\.name) == ["New"])
    let all = try VersionedModel(ModelSource(contentsOf: folder.url))
    #expect(all.versions.map(\.name) == ["M", "M 2", "M 10"])
    #expect(all.currentName == "M 2")
  }

  @Test func aVersionIsFoundByTheHashesOfAStore() throws {
    let folder = try Folder()
    try folder.write("M.xcdatamodel/contents", contents("Old"))
    try folder.write("M 2.xcdatamodel/contents", contents("New"))
    try folder.write(".xccurrentversion", current("M 2.xcdatamodel"))
    let all = try VersionedModel(ModelSource(contentsOf: folder.url))
    let hashes = try all.versions[0].model.resolved().versionHashes
    #expect(all.version(with: hashes)?.name == "M")
    #expect(all.version(with: ["Old": Data()]) == nil)
  }

  /// Xcode leaves such a list if no version was chosen.
  @Test func aListThatNamesNoVersionIsNone() throws {
    let folder = try Folder()
    try folder.write("M.xcdatamodel/contents", contents("A"))
    try folder.write(".xccurrentversion", "<plist version=\"1.0\"><dict/></plist>")
    #expect(try folder.read().entities.map(\.name) == ["A"])
    try folder.write("M 2.xcdatamodel/contents", contents("B"))
    #expect { try folder.read() } throws: { "\($0)".contains("there are 2 versions and no .xccurrentversion") }
  }

  @Test func oneVersionNeedsNoList() throws {
    let folder = try Folder()
    try folder.write("M.xcdatamodel/contents", contents("A"))
    #expect(try folder.read().entities.map(\.name) == ["A"])
  }

  @Test func aListThatNamesWhatIsNotThereIsRefused() throws {
    let folder = try Folder()
    try folder.write("M.xcdatamodel/contents", contents("A"))
    try folder.write(".xccurrentversion", current("../../M.xcdatamodel"))
    let error = #expect(throws: ModelError.self) { try folder.read() }
    #expect(error?.message.contains("is not there") == true)
  }

  @Test func theFormFromBeforeXcode4IsRefusedPolitely() throws {
    let folder = try Folder()
    try folder.write("elements", "x")
    try folder.write("layout", "y")
    let error = #expect(throws: ModelError.self) { try folder.read() }
    #expect(error?.code == .unsupportedForm)
    #expect(error?.message.contains("before Xcode 4") == true)
  }

  @Test func whatIsNoModelSaysWhichFormsThereAre() throws {
    let source = ModelSource(Data("x".utf8), name: "a")
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel.read(source) }
    #expect(error?.code == .unsupportedForm)
    let nowhere = URL(fileURLWithPath: "/nowhere/at/all")
    let missing = #expect(throws: ModelError.self) { try ModelSource(contentsOf: nowhere) }
    #expect(missing?.code == .cannotOpenFile)
  }

  @Test func whatHasNoEndIsRefused() throws {
    let error = #expect(throws: ModelError.self) { try ModelSource(contentsOf: URL(fileURLWithPath: "/dev/zero")) }
    #expect(error?.code == .cannotOpenFile)
    #expect(error?.message.contains("a pipe or a device") == true)
  }
}
