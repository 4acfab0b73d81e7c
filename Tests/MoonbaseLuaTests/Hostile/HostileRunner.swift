import MoonbasePlatform

/// Starts `moonbase-hostile`, which is built along with these tests and does in processes of their own what may end a process.
enum HostileRunner {
  /// The lines that it answers to arguments and input lines.
  static func ask(_ arguments: [String], _ lines: [String]) throws -> [String] {
    let input = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-hostile-\(UUID().uuidString)")
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
    defer { try? FileManager.default.removeItem(at: input) }
    let process = Process()
    let output = Pipe()
    process.executableURL = runner
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static let runner: URL = {
    let tests =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    var folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
    while folder.path != "/",
      !FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent("moonbase-hostile").path)
    {
      folder = folder.deletingLastPathComponent()
    }
    return folder.appendingPathComponent("moonbase-hostile")
  }()
}
