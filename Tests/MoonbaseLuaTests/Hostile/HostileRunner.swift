import MoonbasePlatform
import MoonbaseTestSupport

/// Starts `moonbase-hostile`, built along with these tests, which runs code that may end its process.
enum HostileRunner {
  /// Returns the program's output lines for arguments and input lines.
  static func ask(_ arguments: [String], _ lines: [String]) throws -> [String] {
    let outcome = try ChildProcess.run(runner, arguments, input: lines.joined(separator: "\n") + "\n")
    return outcome.output.split(separator: "\n").map(String.init)
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
