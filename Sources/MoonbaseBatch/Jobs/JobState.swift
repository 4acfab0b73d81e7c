import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform

/// What the ledger says of a batch job.
package struct JobState: Sendable {
  /// A chunk that was set aside.
  package struct Failure: Sendable {
    package var chunk: Int
    package var attempts: Int
    package var reason: String
  }

  /// More chunks would not fit in the entry that a store keeps, if each second one is done.
  package static let greatestChunkCount = 4000
  private static let longestReason = 240
  /// The bytes of all reasons.
  private static let greatestReasons = 20 << 10
  /// Each reason stands in a table of its own.
  private static let greatestFailures = 150

  /// The digest of the script.
  package internal(set) var hash: String
  /// What the script loads; nil for a job that was begun before this was noted.
  var files: JobFiles?
  /// The keys of a chunk's objects: chunk `n` has those up to `n * width` behind those of the chunk before.
  package let width: Int64
  package let chunks: Int
  /// The greatest key: objects that came later are not the job's.
  package let last: Int64
  package internal(set) var done = ChunkSet()
  package internal(set) var failed = ChunkSet()
  /// Why chunks failed: the first ones.
  package internal(set) var failures: [Failure] = []
  /// How many objects the chunks had that are done.
  package internal(set) var objects = 0
  /// How long the chunks took together, in seconds.
  package internal(set) var seconds = 0.0
  package let began: Date
  package internal(set) var saved: Date
  package internal(set) var isFinished = false

  /// A job that begins now, over objects with keys up to `last`.
  init(hash: String, files: JobFiles?, last: Int64, chunkSize: Int) {
    (self.hash, self.files, self.last) = (hash, files, last)
    width = max(Int64(chunkSize), (last + Int64(Self.greatestChunkCount) - 1) / Int64(Self.greatestChunkCount))
    chunks = Int((last + width - 1) / width)
    began = Date()
    saved = began
  }

  package init?(_ entry: Ledger.Entry) {
    guard entry["kind"] == .string("batch"), case .string(let hash)? = entry["hash"],
      let width = entry.number("width"), width > 0, let chunks = entry.number("chunks"),
      let last = entry.number("last"),
      case .string(let done)? = entry["done"], let doneSet = ChunkSet(done),
      case .string(let failed)? = entry["failed"], let failedSet = ChunkSet(failed),
      case .date(let began)? = entry["began"], case .date(let saved)? = entry["saved"]
    else { return nil }
    (self.hash, self.width, self.chunks, self.done, self.failed) = (hash, width, Int(chunks), doneSet, failedSet)
    (self.began, self.saved, self.last) = (began, saved, last)
    files = JobFiles(entry["files"])
    objects = Int(entry.number("objects") ?? 0)
    if case .double(let seconds)? = entry["seconds"] { self.seconds = seconds }
    isFinished = entry["finished"] == .bool(true)
    if case .list(let list)? = entry["failures"] {
      failures = list.compactMap { value in
        guard case .map(let map) = value, let chunk = map.number("chunk"), case .string(let reason)? = map["reason"]
        else { return nil }
        return Failure(chunk: Int(chunk), attempts: Int(map.number("attempts") ?? 1), reason: reason)
      }
    }
  }

  var entry: Ledger.Entry {
    var entry: Ledger.Entry = [
      "kind": .string("batch"), "hash": .string(hash), "width": .int(width), "chunks": .int(Int64(chunks)),
      "last": .int(last),
      "done": .string("\(done)"), "failed": .string("\(failed)"), "objects": .int(Int64(objects)),
      "seconds": .double(seconds), "began": .date(began), "saved": .date(saved), "finished": .bool(isFinished),
      "failures": .list(
        failures.map {
          .map(["chunk": .int(Int64($0.chunk)), "attempts": .int(Int64($0.attempts)), "reason": .string($0.reason)])
        }),
    ]
    entry["files"] = files?.value
    return entry
  }

  /// The chunks that are neither done nor set aside.
  package var open: ChunkSet {
    var known = done
    for range in failed.ranges { known.insert(range) }
    return known.rest(of: chunks)
  }

  mutating func note(done chunk: Int, objects count: Int, seconds time: Double) {
    done.insert(chunk...chunk)
    forget(failureOf: chunk)
    objects += count
    seconds += time
    saved = Date()
  }

  mutating func note(failed chunk: Int, attempts: Int, reason: String) {
    forget(failureOf: chunk)
    failed.insert(chunk...chunk)
    let beginning = String(reason.prefix(Self.longestReason))
    let weight = failures.reduce(beginning.utf8.count) { $0 + $1.reason.utf8.count }
    if weight <= Self.greatestReasons, failures.count < Self.greatestFailures {
      failures.append(Failure(chunk: chunk, attempts: attempts, reason: beginning))
    }
    saved = Date()
  }

  private mutating func forget(failureOf chunk: Int) {
    guard failed.contains(chunk) else { return }
    failures.removeAll { $0.chunk == chunk }
    var rest = ChunkSet()
    for range in failed.ranges {
      if range.lowerBound < chunk { rest.insert(range.lowerBound...min(range.upperBound, chunk - 1)) }
      if range.upperBound > chunk { rest.insert(max(range.lowerBound, chunk + 1)...range.upperBound) }
    }
    failed = rest
  }
}
