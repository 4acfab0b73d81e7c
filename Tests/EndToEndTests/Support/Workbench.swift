import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A folder for one test, in which the command is run as a person would run it.
final class Workbench: Sendable {
  typealias Outcome = ChildProcess.Outcome

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase test \(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs `moonbase` in the folder.
  func moonbase(_ arguments: String..., input: String = "") throws -> Outcome {
    try run(Self.command, arguments, input: input)
  }

  /// Runs `moonbase` in the folder.
  func moonbase(_ arguments: [String], input: String = "") throws -> Outcome {
    try run(Self.command, arguments, input: input)
  }

  /// Runs `moonbase` with `megabytes` of address space, a hundred of which the command needs to start.
  func moonbase(megabytes: Int, _ arguments: String...) throws -> Outcome {
    let limit = "ulimit -v \(megabytes * 1024); exec \"$@\""
    return try run(URL(fileURLWithPath: "/bin/sh"), ["-c", limit, "sh", Self.command.path] + arguments, input: "")
  }

  /// Runs another program in the folder, by its name on the PATH.
  func program(_ name: String, _ arguments: String..., input: String = "") throws -> Outcome {
    try run(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments, input: input)
  }

  /// Runs another program in the folder, by its name on the PATH.
  func program(_ name: String, _ arguments: [String]) throws -> Outcome {
    try run(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments, input: "")
  }

  func file(_ name: String) -> URL {
    folder.appendingPathComponent(name)
  }

  @discardableResult
  func write(_ text: String, to name: String) throws -> URL {
    try Data(text.utf8).write(to: file(name))
    return file(name)
  }

  func bytes(of name: String) throws -> Data {
    try Data(contentsOf: file(name))
  }

  /// The names of all files, to check that a refusal left none.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  func run(_ executable: URL, _ arguments: [String], input: String) throws -> Outcome {
    let outcome = try ChildProcess.run(executable, arguments, in: folder, input: input)
    try #require(outcome.signal == nil, "signal \(outcome.status): \(outcome.complaints)")
    return outcome
  }
}

extension Workbench {
  static let checkout = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The command built along with these tests.
  static let command: URL = {
    let runner =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    var folder = URL(fileURLWithPath: runner).deletingLastPathComponent()
    // On macOS the runner is inside of the test bundle.
    while folder.path != "/",
      !FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent("moonbase").path)
    {
      folder = folder.deletingLastPathComponent()
    }
    return folder.appendingPathComponent("moonbase")
  }()
}
