import MoonbaseMeter
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct UnlinkedPathTests {
  private let folder: TemporaryFolder
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = try #require(FileIdentity.truePath(folder.file("").path))
    for name in ["inside", "outside"] { mkdir("\(root)/\(name)", 0o755) }
    symlink("../outside", "\(root)/inside/link")
    symlink("../outside/file", "\(root)/inside/last")
  }

  /// Both implementations: the system call, and step by step.
  private static let ways: [@Sendable (String, Int32) -> Int32] = [
    { UnlinkedPath.open($0, $1) }, { moonbase_open_step_by_step($0, $1 | O_CLOEXEC, 0o666) },
  ]

  @Test(arguments: ways.indices) func noLinkIsFollowed(_ way: Int) throws {
    let open = Self.ways[way]
    for path in ["inside/link/file", "inside/last", "inside/link/../file"] {
      let descriptor = open("\(root)/\(path)", O_WRONLY | O_CREAT)
      #expect(descriptor < 0 && errno == ELOOP, "\(path): \(errno)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/outside") == [])
    for path in ["inside/file", "inside//file", "inside/./file"] {
      let descriptor = open("\(root)/\(path)", O_WRONLY | O_CREAT)
      #expect(descriptor >= 0)
      close(descriptor)
    }
    #expect(open("\(root)/none/file", O_RDONLY) < 0 && errno == ENOENT)
    #expect(open("\(root)/inside/file/x", O_RDONLY) < 0)
    #expect(open("/\(String(repeating: "x/", count: 5000))", O_RDONLY) < 0 && errno == ENAMETOOLONG)
    close(open("/", O_RDONLY))
  }

  @Test func filesAreRemovedAndRenamedWithoutLinks() throws {
    func names(_ name: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(name)").sorted()
    }
    try Data().write(to: URL(fileURLWithPath: "\(root)/outside/file"))
    #expect(UnlinkedPath.remove("\(root)/inside/link/file") < 0 && errno == ELOOP)
    #expect(UnlinkedPath.rename("\(root)/inside/link/file", to: "\(root)/inside/x") < 0)
    #expect(try names("outside") == ["file"])
    #expect(UnlinkedPath.rename("\(root)/inside/last", to: "\(root)/inside/new") == 0)
    #expect(UnlinkedPath.remove("\(root)/inside/new") == 0)
    #expect(UnlinkedPath.remove("\(root)/inside/link") == 0)
    #expect(try names("outside") == ["file"] && names("inside") == [])
    #expect(UnlinkedPath.remove("\(root)/inside") == 0)
    #expect(UnlinkedPath.remove("\(root)/outside") < 0 && errno == ENOTEMPTY)
  }
}
