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

  private func time(_ benchmark: Benchmark, _ side: Side) throws -> Double {
    try benchmark.prepare(workplace)
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
