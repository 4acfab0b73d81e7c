import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform

/// The state of a batch job in the ledger.
///
/// A state is a value that is read from the ledger, changed within a transaction and written back
/// by `entry`. The limits keep an entry small, whatever the number of failures.
package struct JobState: Sendable {
  /// A chunk that was set aside.
  package struct Failure: Sendable {
    /// The number of the chunk.
    package var chunk: Int
    /// The number of attempts.
    package var attempts: Int
    /// The reason of the last failure.
    package var reason: String
  }

  /// The most chunks. More would not fit in a store's entry if every second chunk is done.
  package static let greatestChunkCount = 4000
  /// The longest text of a chunk set: four digits and a comma for each.
  private static let greatestSet = 5 * greatestChunkCount
  /// The greatest length of a recorded reason, in characters.
  private static let longestReason = 240
  /// The most bytes of all reasons.
  private static let greatestReasons = 20 << 10
  /// The most failures recorded, because each has its own table.
  private static let greatestFailures = 150

  /// The digest of the script.
  package internal(set) var hash: String
  /// The files loaded by the script; nil for a job begun before files were recorded.
  var files: JobFiles?
  /// The range of keys of a chunk: chunk `n` has the keys up to `n * width` above those of the previous chunk.
  package let width: Int64
  /// The number of chunks.
  package let chunks: Int
  /// The greatest key. Objects added later are not part of the job.
  package let last: Int64
  /// The completed chunks.
  package internal(set) var done = ChunkSet()
  /// The chunks that were set aside.
  package internal(set) var failed = ChunkSet()
  /// The first failures, with their reasons.
  package internal(set) var failures: [Failure] = []
  /// The number of objects in completed chunks.
  package internal(set) var objects = 0
  /// The total time of the chunks, in seconds.
  package internal(set) var seconds = 0.0
  /// The time when the job began.
  package let began: Date
  /// The time of the last save.
  package internal(set) var saved: Date
  /// Whether the job is complete.
  package internal(set) var isFinished = false

  /// A job that begins now, over objects with keys up to `last`.
  ///
  /// The width is increased if `chunkSize` would give more than `greatestChunkCount` chunks.
  init(hash: String, files: JobFiles?, last: Int64, chunkSize: Int) {
    (self.hash, self.files, self.last) = (hash, files, last)
    width = max(Int64(chunkSize), (last + Int64(Self.greatestChunkCount) - 1) / Int64(Self.greatestChunkCount))
    chunks = Self.chunks(upTo: last, width)
    began = Date()
    saved = began
  }

  /// Reads an entry of the ledger. Throws if it is damaged.
  ///
  /// Throws `.invalidStore` with the key that is damaged.
  package init(_ entry: Ledger.Entry, of job: String) throws {
    let reader = LedgerReader(entry, of: job, advice: "begin it anew under another name with --name")
    guard entry["kind"] == .string("batch") else { throw reader.damage("kind is not batch") }
    hash = try reader.requiredText("hash")
    last = try reader.requiredNumber("last")
    width = try reader.requiredNumber("width", in: 1...LedgerReader.greatestCount)
    chunks = Int(try reader.requiredNumber("chunks"))
    guard chunks == Self.chunks(upTo: last, width), chunks <= Self.greatestChunkCount else {
      throw reader.damage("chunks is \(chunks)")
    }
    done = try Self.chunkSet("done", of: chunks, reader)
    failed = try Self.chunkSet("failed", of: chunks, reader)
    (began, saved) = (try reader.requiredDate("began"), try reader.requiredDate("saved"))
    files = JobFiles(entry["files"])
    objects = Int(try reader.number("objects"))
    if case .double(let seconds)? = entry["seconds"], (0...1e15).contains(seconds) { self.seconds = seconds }
    isFinished = entry["finished"] == .bool(true)
    guard case .list(let list)? = entry["failures"] else { return }
    failures = list.prefix(Self.greatestFailures).compactMap { Self.failure($0, of: chunks) }
  }

  /// The number of chunks that cover the keys up to `last`.
  private static func chunks(upTo last: Int64, _ width: Int64) -> Int { Int((last + width - 1) / width) }

  /// Reads a set of chunks, none above `chunks`.
  private static func chunkSet(_ key: String, of chunks: Int, _ reader: LedgerReader) throws -> ChunkSet {
    let text = try reader.requiredText(key)
    guard text.utf8.count <= greatestSet, let set = ChunkSet(text), set.ranges.last?.upperBound ?? 0 <= chunks else {
      throw reader.damage("\(key) is no list of chunks from 1 to \(chunks)")
    }
    return set
  }

  /// Reads a failure; nil if it is damaged, because failures are only for display.
  private static func failure(_ value: Value, of chunks: Int) -> Failure? {
    guard case .map(let map) = value, case .string(let reason)? = map["reason"],
      let chunk = map.number("chunk"), chunk >= 1, chunk <= chunks
    else { return nil }
    let attempts = min(max(map.number("attempts") ?? 1, 1), Int64(Int32.max))
    return Failure(chunk: Int(chunk), attempts: Int(attempts), reason: String(reason.prefix(longestReason)))
  }

  /// The entry for the ledger, the inverse of `init(_:of:)`.
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

  /// Records a completed chunk with its number of objects and its time in seconds.
  mutating func note(done chunk: Int, objects count: Int, seconds time: Double) {
    done.insert(chunk...chunk)
    forget(failureOf: chunk)
    objects += count
    seconds += time
    saved = Date()
  }

  /// Records a chunk that was set aside. The reason is shortened, and omitted if there are too
  /// many.
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

  /// Removes the failure of a chunk, which is tried again or done.
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
