import Foundation

@main
struct Main {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") {
      print(Options.usage + "\n\nbenchmarks: " + Benchmark.all.map(\.name).joined(separator: ", "))
      return
    }
    do {
      try run(try Options(arguments))
    } catch {
      complain("moonbase-bench: \(error)")
      exit(1)
    }
  }

  private static func run(_ options: Options) throws {
    let chosen = Benchmark.all.filter { options.only.isEmpty || options.only.contains($0.name) }
    if let unknown = options.only.first(where: { name in !Benchmark.all.contains { $0.name == name } }) {
      throw Failure(
        "there is no benchmark '\(unknown)'; there are \(Benchmark.all.map(\.name).joined(separator: ", "))")
    }
    let workplace = try Workplace(count: options.count)
    defer { workplace.clear() }
    let runner = Runner(workplace: workplace, rounds: options.rounds) { if !options.quiet { complain($0) } }
    let outcomes = try chosen.map(runner.run)
    print(options.json ? try json(outcomes) : table(outcomes, options))
  }

  private static func table(_ outcomes: [Outcome], _ options: Options) -> String {
    let note = "medians of \(options.rounds) interleaved runs, \(options.count) objects"
    return ([Outcome.heading] + outcomes.map(\.line) + ["", note]).joined(separator: "\n")
  }

  private static func json(_ outcomes: [Outcome]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(outcomes), as: UTF8.self)
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
