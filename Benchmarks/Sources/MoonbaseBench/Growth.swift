import Foundation

/// How the time of a row grows with ten times as many objects.
struct Growth: Encodable {
  let name: String
  let title: String
  let count: Int
  /// With so many objects, and with ten times as many, in seconds and in the order of the rounds.
  let few: [Double]
  let many: [Double]
  /// What the yardstick took, for rows of the graph alone.
  let yardstickFew: [Double]
  let yardstickMany: [Double]

  static let factor = 10
  /// The rows whose work is one of objects, each a little.
  static let rows =
    ["insert", "fetch", "kept-alive", "fetch-faults", "kept-faults", "object-by-id", "prefetch"] + graph
  /// Those of the graph alone, of which a few objects lie in the processor's caches and many do not.
  private static let graph = (Benchmark.graph + Benchmark.operations).map(\.name)
  static func isOfGraph(_ benchmark: Benchmark) -> Bool { graph.contains(benchmark.name) }

  /// The greatest growth that is good enough: for the graph alone that of n log n, and as much more as memory that is further away costs
  /// what is written by hand too.
  private var goal: Double {
    guard Self.graph.contains(name) else { return 11 }
    let factor = Double(Self.factor)
    return factor * log(factor * Double(count)) / log(Double(max(count, 2)))
      * min(max(1, yardstickGrowth / factor), Self.greatestShareOfMemory)
  }

  /// Memory that is further away explains no more than this.
  private static let greatestShareOfMemory = 2.0

  private var yardstickGrowth: Double { median(yardstickMany) / median(yardstickFew) }

  private var growth: Double { median(many) / median(few) }

  var line: String {
    let found = String(format: "%.1f ms → %.1f ms: %.2f times", median(few) * 1000, median(many) * 1000, growth)
    let verdict = growth <= goal ? "" : " missed"
    let goal = String(format: "%.3g", goal)
    return "\(title): \(count) → \(Self.factor * count) objects, \(found), goal \(goal)\(verdict)"
  }

  private enum Key: String, CodingKey {
    case name, title, count, few, many, growth, goal, reached
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(title, forKey: .title)
    try container.encode(count, forKey: .count)
    try container.encode(few, forKey: .few)
    try container.encode(many, forKey: .many)
    try container.encode(growth, forKey: .growth)
    try container.encode(goal, forKey: .goal)
    try container.encode(growth <= goal, forKey: .reached)
  }
}

extension Runner {
  /// Times a row with few and with many objects, in turns.
  static func growth(
    of benchmark: Benchmark, from count: Int, rounds: Int, _ say: @escaping (String) -> Void
  ) throws -> Growth {
    let places = try [count, Growth.factor * count].map { try Workplace(count: $0) }
    defer { for place in places { place.clear() } }
    let runners = places.map { Runner(workplace: $0, rounds: rounds, say: say) }
    var seconds: [[Double]] = [[], []]
    var yardstick: [[Double]] = [[], []]
    for round in 0..<rounds {
      for (index, runner) in runners.enumerated() {
        seconds[index].append(try runner.time(benchmark, .subject))
        if Growth.isOfGraph(benchmark) { yardstick[index].append(try runner.time(benchmark, .yardstick)) }
      }
      say("\(benchmark.name): round \(round + 1) of \(rounds)")
    }
    return Growth(
      name: benchmark.name, title: benchmark.title, count: count, few: seconds[0], many: seconds[1],
      yardstickFew: yardstick[0], yardstickMany: yardstick[1])
  }
}
