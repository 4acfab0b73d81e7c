import Foundation

/// Runs benchmarks in rounds, both sides in each, so that whatever else the machine does meets both alike.
struct Runner {
  let workplace: Workplace
  let rounds: Int
  let say: (String) -> Void

  func run(_ benchmark: Benchmark) throws -> Outcome {
    var seconds: [Side: [Double]] = [.yardstick: [], .subject: []]
    for round in 0..<rounds {
      // Who goes first takes turns, for the second finds warmer caches.
      for side in round.isMultiple(of: 2) ? Side.allCases : Side.allCases.reversed() {
        seconds[side, default: []].append(try time(benchmark, side))
      }
      say("\(benchmark.name): round \(round + 1) of \(rounds)")
    }
    return Outcome(
      name: benchmark.name, title: benchmark.title, goal: benchmark.goal.ratio, count: workplace.count,
      yardstick: seconds[.yardstick, default: []], subject: seconds[.subject, default: []])
  }

  /// The other side has just written the file, or its log, and a store is opened only when the times of its files tell one writing
  /// from the next: that wait is no work.
  private static let settling = 0.03

  private func time(_ benchmark: Benchmark, _ side: Side) throws -> Double {
    try benchmark.prepare(workplace)
    Thread.sleep(forTimeInterval: Self.settling)
    let clock = ContinuousClock()
    var answer = Answer.none
    let duration = try clock.measure {
      answer = try side == .yardstick ? benchmark.yardstick(workplace) : benchmark.subject(workplace)
    }
    try workplace.expect(answer, for: benchmark.name + ", its answer", from: side)
    let left = try benchmark.inspect(workplace, side)
    try workplace.expect(left, for: benchmark.name + ", what it left", from: side)
    return duration / .seconds(1)
  }
}
