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
    let chosen = Benchmark.all.filter {
      options.only.isEmpty ? !$0.isByNameOnly : options.only.contains($0.name)
    }
    if let unknown = options.only.first(where: { name in !Benchmark.all.contains { $0.name == name } }) {
      throw Failure(
        "there is no benchmark '\(unknown)'; there are \(Benchmark.all.map(\.name).joined(separator: ", "))")
    }
    if options.growth { return try runGrowth(chosen, options) }
    let workplace = try Workplace(count: options.count)
    defer { workplace.clear() }
    let runner = Runner(workplace: workplace, rounds: options.rounds) { if !options.quiet { complain($0) } }
    let outcomes = try chosen.map { try runner.run($0, beside: options.peers ? Peer.all : []) }
    print(options.json ? try json(outcomes) : table(outcomes, options))
  }

  private static func runGrowth(_ chosen: [Benchmark], _ options: Options) throws {
    let rows = chosen.filter { Growth.rows.contains($0.name) }
    guard !rows.isEmpty else { throw Failure("--growth is of \(Growth.rows.joined(separator: ", "))") }
    let found = try rows.map { benchmark in
      try Runner.growth(of: benchmark, from: options.count, rounds: options.rounds) {
        if !options.quiet { complain($0) }
      }
    }
    print(options.json ? try json(found) : found.map(\.line).joined(separator: "\n"))
  }

  private static func table(_ outcomes: [Outcome], _ options: Options) -> String {
    let note = "medians of \(options.rounds) interleaved runs, \(options.count) objects"
    return ([Outcome.heading] + outcomes.flatMap(\.lines) + ["", note]).joined(separator: "\n")
  }

  private static func json(_ outcomes: [some Encodable]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(outcomes), as: UTF8.self)
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
