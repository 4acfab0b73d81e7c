import Foundation

/// The times of one benchmark, in seconds, in the order of the rounds.
struct Outcome: Encodable {
  var memory: MemoryOutcome?
  let name: String
  let title: String
  /// The goal for the ratio; nil for a row without a goal.
  let goal: Double?
  let count: Int
  let yardstick: [Double]
  let subject: [Double]
  var peers: [PeerOutcome] = []

  var ratio: Double { median(subject) / median(yardstick) }

  private enum Key: String, CodingKey {
    case memory, name, title, goal, count, yardstick, subject, yardstickMedian, subjectMedian, ratio, reached, peers
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(memory, forKey: .memory)
    try container.encode(name, forKey: .name)
    try container.encode(title, forKey: .title)
    try container.encodeIfPresent(goal, forKey: .goal)
    try container.encode(count, forKey: .count)
    try container.encode(yardstick, forKey: .yardstick)
    try container.encode(subject, forKey: .subject)
    try container.encode(median(yardstick), forKey: .yardstickMedian)
    try container.encode(median(subject), forKey: .subjectMedian)
    try container.encode(ratio, forKey: .ratio)
    try container.encodeIfPresent(goal.map { ratio <= $0 }, forKey: .reached)
    if !peers.isEmpty { try container.encode(peers, forKey: .peers) }
  }

  static let heading = row("work", "C", "Moonbase", "ratio", "goal")

  /// The row, and those of its peers.
  var lines: [String] {
    [line] + [memory].compactMap { $0?.line }
      + peers.map { peer in
        if let reason = peer.skipped { return "  \(peer.name): skipped, \(reason)" }
        let ratio = median(peer.seconds) / median(yardstick)
        return Self.row("  \(peer.name)", "", Self.time(median(peer.seconds)), String(format: "%.2f", ratio), "peer")
      }
  }

  private var line: String {
    Self.row(
      title, Self.time(median(yardstick)), Self.time(median(subject)), String(format: "%.2f", ratio),
      goal.map { String(format: "%g", $0) + (ratio <= $0 ? "" : " missed") } ?? "none")
  }

  fileprivate static func row(_ cells: String...) -> String {
    let widths = [64, 11, 11, 8, 12]
    return zip(cells, widths).enumerated().map { index, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index == 0 ? cell.0 + space : space + cell.0
    }.joined()
  }

  private static func time(_ seconds: Double) -> String {
    if seconds < 1e-3 { return String(format: "%.1f µs", seconds * 1e6) }
    return seconds < 1 ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
  }
}

/// The maximum memory of a row's programs, in bytes.
struct MemoryOutcome: Encodable {
  let peak: Int64
  let greatest: Int64

  var line: String {
    let goal = "\(greatest >> 20) MiB" + (peak <= greatest ? "" : " missed")
    return Outcome.row("  memory", "", "\(peak >> 20) MiB", "", goal)
  }
}

/// The median: the middle value, or the mean of the two middle values.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
