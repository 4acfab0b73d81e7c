import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Files that scripts may read, write and require, and the messages for files that they may not.
@Suite struct GrantTests {
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  @Test func modulesAreFoundWhereReadingIsAllowed() throws {
    let folder = bench.folder.appendingPathComponent("elsewhere")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("return { name = 'zed' }".utf8).write(to: folder.appendingPathComponent("zed.lua"))
    try Data("return { name = 'near' }".utf8).write(to: bench.folder.appendingPathComponent("near.lua"))
    let code = "print(require('near').name, require('zed').name)"
    let outcome = try bench.moonbase("run", "--allow", "read=\(folder.path)", "-e", code)
    #expect(outcome.output == "near\tzed\n")
    let closed = try bench.moonbase("run", "--no-files", "-e", "require 'near'")
    #expect(closed.status == 1)
    #expect(closed.complaints.contains("module 'near' not found"))
  }

  @Test(arguments: ["json", "moonbase.jsn", "jsno"])
  func aMissingModuleIsToldWithTheNearestAndThePlaces(_ name: String) throws {
    let outcome = try bench.moonbase("run", "-e", "require '\(name)'")
    #expect(outcome.status == 1)
    #expect(outcome.complaints.contains("module '\(name)' not found; did you mean moonbase.json?"))
    let path = name.replacing(".", with: "/")
    #expect(outcome.complaints.contains("no file './\(path).lua' or './\(path)/init.lua'"))
  }

  /// A grant for a missing folder would not help.
  @Test func aMissingFolderIsNoMissingGrant() throws {
    let code = "print(io.open('nodir/x', 'w')) moonbase.open { store = 'nodir/x.sqlite', model = 'm.lua' }"
    let outcome = try bench.moonbase("run", "-e", code)
    #expect(outcome.status == 1)
    #expect(outcome.output == "nil\tnodir/x: No such file or directory\t2\n")
    #expect(outcome.complaints.contains("nodir/x.sqlite: there is no folder nodir"))
    let outside = try bench.moonbase("run", "-e", "print(io.open('/nowhere at all/x', 'w'))")
    #expect(outside.output.contains("not granted for writing"))
  }

  @Test func aLargeSourceIsTakenOnDemand() throws {
    let name = "large.lua"
    let text = "print(#\"" + String(repeating: "x", count: 2 << 20) + "\")"
    try Data(text.utf8).write(to: bench.folder.appendingPathComponent(name))
    let refused = try bench.moonbase("run", name)
    #expect(refused.status == 3 && refused.complaints.contains("more than 1048576"))
    let taken = try bench.moonbase("run", "--limit-source", "3000000", name)
    #expect(taken.output == "2097152\n")
  }
}
