import Foundation

/// The growth of a row's time with ten times as many objects.
struct Growth: Encodable {
  let name: String
  let title: String
  let count: Int
  /// The seconds with few objects, and with ten times as many, in the order of the rounds.
  let few: [Double]
  let many: [Double]
  /// The yardstick's seconds, for rows of the graph alone.
  let yardstickFew: [Double]
  let yardstickMany: [Double]

  static let factor = 10
  /// The rows with a small amount of work per object.
  static let rows =
    ["insert", "fetch", "kept-alive", "fetch-faults", "kept-faults", "object-by-id", "prefetch"] + graph
  /// The rows of the graph alone, where few objects fit into the processor's caches and many do not.
  private static let graph = (Benchmark.graph + Benchmark.operations).map(\.name)
  static func isOfGraph(_ benchmark: Benchmark) -> Bool { graph.contains(benchmark.name) }

  /// The greatest acceptable growth. For the graph alone: that of n log n, times the growth of the hand-written code,
  /// which is due to more distant memory.
  private var goal: Double {
    guard Self.graph.contains(name) else { return 11 }
    let factor = Double(Self.factor)
    return factor * log(factor * Double(count)) / log(Double(max(count, 2)))
      * min(max(1, yardstickGrowth / factor), Self.greatestShareOfMemory)
  }

  /// The maximum share that distant memory may explain.
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
  /// Times a row with few and with many objects, alternately.
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
