import MoonbaseBatch

/// The state of a job for programs to read: `moonbase batch status --json`.
///
/// The names of the properties are the keys in JSON, so they are part of the command's interface.
struct JobReport: Encodable {
  /// A chunk that was set aside.
  struct Failure: Encodable {
    /// The number of the chunk.
    let chunk: Int
    /// The number of attempts.
    let attempts: Int
    /// The reason of the last failure.
    let reason: String
  }

  /// The name of the job.
  let job: String
  /// Whether all chunks are done and the script's `finish` ran.
  let finished: Bool
  /// The number of chunks.
  let chunks: Int
  /// The number of completed chunks.
  let done: Int
  /// The number of objects in completed chunks.
  let objects: Int
  /// The total time of all chunks in seconds.
  let seconds: Double
  /// The time when the job began, in ISO 8601.
  let began: String
  /// The time of the last save, in ISO 8601.
  let last: String
  /// Ranges of chunk numbers, such as `1-3,7`.
  let open: String
  /// Ranges of the chunks that were set aside.
  let failed: String
  /// The first failures, with reasons.
  let failures: [Failure]

  /// The report of a job's state.
  init(_ name: String, _ state: JobState) {
    (job, finished, chunks, done) = (name, state.isFinished, state.chunks, state.done.count)
    (objects, seconds) = (state.objects, state.seconds)
    (began, last) = (DateForm.iso.text(state.began), DateForm.iso.text(state.saved))
    (open, failed) = (state.isFinished ? "" : "\(state.open)", "\(state.failed)")
    failures = state.failures.map { Failure(chunk: $0.chunk, attempts: $0.attempts, reason: $0.reason) }
  }
}
