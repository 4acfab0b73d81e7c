import Foundation

/// Runs benchmarks in rounds with both sides in each round, so that other load on the machine affects both alike.
struct Runner {
  let workplace: Workplace
  let rounds: Int
  let say: (String) -> Void

  /// Times both sides, and the peers that do the row's work.
  func run(_ benchmark: Benchmark, beside peers: [Peer] = []) throws -> Outcome {
    var seconds: [Side: [Double]] = [.yardstick: [], .subject: []]
    let others = peers.filter { $0.rows.contains(benchmark.name) }
    var found = others.map { PeerOutcome(name: $0.name) }
    workplace.peak = 0
    for round in 0..<rounds {
      // The sides alternate in going first, since the second one finds warmer caches.
      for side in round.isMultiple(of: 2) ? Side.allCases : Side.allCases.reversed() {
        seconds[side, default: []].append(try time(benchmark, side))
      }
      for (index, peer) in others.enumerated() where found[index].skipped == nil {
        try time(benchmark, peer, into: &found[index])
      }
      say("\(benchmark.name): round \(round + 1) of \(rounds)")
    }
    return Outcome(
      memory: benchmark.greatestMemory.map { MemoryOutcome(peak: workplace.peak, greatest: $0) }, name: benchmark.name,
      title: benchmark.title, goal: benchmark.goal.ratio, count: workplace.count,
      yardstick: seconds[.yardstick, default: []], subject: seconds[.subject, default: []], peers: found)
  }

  /// The peer reports its own time, without its start-up.
  private func time(_ benchmark: Benchmark, _ peer: Peer, into outcome: inout PeerOutcome) throws {
    try benchmark.prepare(workplace)
    let file = workplace.file(benchmark.name == "insert" ? "peer.sqlite" : "people.sqlite")
    do {
      let (seconds, answer) = try peer.run(benchmark.name, file, count: workplace.count)
      try workplace.expect(answer, for: benchmark.name + ", its answer", from: peer.name)
      outcome.seconds.append(seconds)
    } catch let absence as Peer.Absence {
      outcome.skipped = absence.reason
    }
  }

  /// The other side has just written the file or its log, and a store recognizes a write by the time of its files. The
  /// wait makes the times differ and is not timed.
  private static let settling = 0.03

  func time(_ benchmark: Benchmark, _ side: Side) throws -> Double {
    try benchmark.prepare(workplace)
    Thread.sleep(forTimeInterval: Self.settling)
    let clock = ContinuousClock()
    var answer = Answer.none
    let duration = try clock.measure {
      answer = try side == .yardstick ? benchmark.yardstick(workplace) : benchmark.subject(workplace)
    }
    try workplace.expect(answer, for: benchmark.name + ", its answer", from: side.rawValue)
    let left = try benchmark.inspect(workplace, side)
    try workplace.expect(left, for: benchmark.name + ", what it left", from: side.rawValue)
    return duration / .seconds(1)
  }
}
