import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct EmbeddedFileTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("lua")

  @Test func whatIsCompiledInIsWhatTheFoldersHold() throws {
    let names = try ["moonbase", "types"].flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
        .filter { $0.hasSuffix(".lua") }.map { "\(folder)/\($0)" }
    }
    #expect(LuaFiles.names.sorted() == names.sorted())
    for name in names {
      let bytes = Array(try Data(contentsOf: Self.root.appendingPathComponent(name)))
      #expect(LuaFiles.bytes(name) == bytes, "\(name)")
    }
    #expect(LuaFiles.bytes("moonbase/none.lua") == nil)
  }
}
