import MoonbaseModel
import MoonbasePlatform

/// The files that a job loads beside its script, by name, with their digests, as its entry in the ledger has them.
struct JobFiles: Equatable, Sendable {
  /// More bytes of names and digests do not fit in the entry.
  private static let greatestWeight = 4 << 10

  /// Nil where they are too many: then there is a digest of all.
  private(set) var digests: [String: String]?
  private var all: String?

  init(_ digests: [String: String]) {
    let weight = digests.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
    guard weight > Self.greatestWeight else {
      self.digests = digests
      return
    }
    let lines = digests.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    all = SHA2.sha256(Data(lines.utf8)).base64EncodedString()
  }

  /// Reads what an entry has; nil where a job was begun before files were noted.
  init?(_ value: Value?) {
    switch value {
    case .map(let map):
      digests = map.compactMapValues { if case .string(let digest) = $0 { digest } else { nil } }
    case .string(let digest): all = digest
    default: return nil
    }
  }

  var value: Value {
    if let digests { return .map(digests.mapValues(Value.string)) }
    return .string(all ?? "")
  }

  /// Takes in files that were loaded on the way. What is noted already stays: it is what the job was begun with.
  mutating func add(_ others: JobFiles) {
    guard let own = digests, let new = others.digests else { return }
    let merged = JobFiles(own.merging(new) { first, _ in first })
    // Where there is no room for their names the first ones are kept.
    if merged.digests != nil { self = merged }
  }
}
