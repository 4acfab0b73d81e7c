import MoonbaseBatch

/// The state of a job for programs to read: `moonbase batch status --json`.
struct JobReport: Encodable {
  struct Failure: Encodable {
    let chunk: Int
    let attempts: Int
    let reason: String
  }

  let job: String
  let finished: Bool
  let chunks: Int
  let done: Int
  let objects: Int
  /// The total time of all chunks in seconds.
  let seconds: Double
  let began: String
  let last: String
  /// Ranges of chunk numbers, such as `1-3,7`.
  let open: String
  let failed: String
  let failures: [Failure]

  init(_ name: String, _ state: JobState) {
    (job, finished, chunks, done) = (name, state.isFinished, state.chunks, state.done.count)
    (objects, seconds) = (state.objects, state.seconds)
    (began, last) = (DateForm.iso.text(state.began), DateForm.iso.text(state.saved))
    (open, failed) = (state.isFinished ? "" : "\(state.open)", "\(state.failed)")
    failures = state.failures.map { Failure(chunk: $0.chunk, attempts: $0.attempts, reason: $0.reason) }
  }
}
