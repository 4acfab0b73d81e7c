import MoonbaseModel
import MoonbasePlatform

/// The files that a job loads beside its script, by name, with their digests, as recorded in the ledger.
///
/// An entry of the ledger must stay small. So beyond `greatestWeight` a single digest of all lines
/// replaces the list.
struct JobFiles: Equatable, Sendable {
  /// The most bytes of names and digests in an entry.
  private static let greatestWeight = 4 << 10

  /// The digests; nil if there are too many, so that only a common digest is kept.
  private(set) var digests: [String: String]?
  /// The digest of all names and digests, if `digests` is nil.
  private var all: String?

  /// The files with these digests by name.
  init(_ digests: [String: String]) {
    let weight = digests.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
    guard weight > Self.greatestWeight else {
      self.digests = digests
      return
    }
    let lines = digests.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    all = SHA2.sha256(Data(lines.utf8)).base64EncodedString()
  }

  /// Reads the value of an entry; nil for a job begun before files were recorded.
  init?(_ value: Value?) {
    switch value {
    case .map(let map):
      digests = map.compactMapValues { if case .string(let digest) = $0 { digest } else { nil } }
    case .string(let digest): all = digest
    default: return nil
    }
  }

  /// The value for an entry of the ledger.
  var value: Value {
    if let digests { return .map(digests.mapValues(Value.string)) }
    return .string(all ?? "")
  }

  /// Adds files loaded later. Recorded files are kept, because the job began with them.
  mutating func add(_ others: JobFiles) {
    guard let own = digests, let new = others.digests else { return }
    let merged = JobFiles(own.merging(new) { first, _ in first })
    // If the names do not fit, the first ones are kept.
    if merged.digests != nil { self = merged }
  }
}
