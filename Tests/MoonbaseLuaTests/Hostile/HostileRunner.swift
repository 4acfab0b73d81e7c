import MoonbasePlatform
import MoonbaseTestSupport

/// Starts `moonbase-hostile`, which is built along with these tests and does in processes of their own what may end a process.
enum HostileRunner {
  /// The lines that it answers to arguments and input lines.
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
