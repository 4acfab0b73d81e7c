import Foundation
import Yardsticks

extension Benchmark {
  /// The command with an empty script, compared with the bare interpreter: twenty starts each.
  static var startUp: Benchmark {
    Benchmark(
      name: "start-up", title: "start `moonbase run` with an empty script", goal: .ratio(3),
      prepare: { try Data().write(to: $0.file("empty.lua")) },
      yardstick: { try spawn([interpreter, $0.file("empty.lua").path]) },
      subject: { workplace in
        guard let command = ProcessInfo.processInfo.environment["MOONBASE_COMMAND"] else {
          throw Failure("MOONBASE_COMMAND does not name the command; start this through scripts/bench")
        }
        return try spawn([command, "run", workplace.file("empty.lua").path])
      })
  }

  private static let interpreter = "lua5.4"

  /// Runs a program twenty times; every run must exit with 0.
  private static func spawn(_ arguments: [String]) throws -> Answer {
    let pointers = arguments.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    let list = pointers.map { UnsafePointer<CChar>($0) } + [nil]
    for _ in 0..<20 {
      let status = yardstick_spawn(list)
      guard status == 0 else { throw Failure("'\(arguments.joined(separator: " "))' exited with \(status)") }
    }
    return .number(0)
  }
}
