import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Works on chunks with several threads, and reports the outcome.
///
/// Each thread has its own job object, context and Lua state; they share only a locked list of
/// chunks. An interruption lets running chunks end, and a second one ends the process.
struct JobRun {
  /// The options of the command.
  private let options: JobOptionGroup
  /// The open stores, which all threads share.
  private let container: PersistentContainer
  /// The number of threads.
  private let jobs: Int
  /// The options of the summary.
  private let summary: SummaryOptionGroup

  /// A run with the options of a command.
  init(_ options: JobOptionGroup, _ container: PersistentContainer, jobs: Int, _ summary: SummaryOptionGroup) {
    (self.options, self.container, self.jobs, self.summary) = (options, container, jobs, summary)
  }

  /// Throws a validation error for a number of threads outside of 1 to 64.
  static func check(_ jobs: Int) throws {
    guard (1...64).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 64, not \(jobs)") }
  }

  /// The state that the threads share: the chunks that no thread has taken yet, and the outcome of the others.
  private struct Shared {
    /// The chunks that are left, in reverse order.
    var rest: [Int]
    /// The number of chunks that were done.
    var done = 0
    /// The number of objects in them.
    var objects = 0
    /// The chunks that were set aside.
    var failures: [(chunk: Int, reason: String)] = []
    /// The error that ends all threads.
    var error: (any Error)?
  }

  /// Works on chunks, and finishes the job when all are done.
  ///
  /// `first` is the job of the calling thread, which also runs `finish`. Throws the exit status for
  /// failed chunks, and for an interruption.
  func run(_ first: BatchJob, _ state: JobState, _ chunks: ChunkSet) throws {
    let began = Date()
    let bar = ProgressBar(quiet: options.quiet)
    let shared = Lock(Shared(rest: chunks.ranges.flatMap { $0 }.reversed()))
    Interruption.isWaitedFor()
    let watch = InterruptionWatch()
    defer { watch.end() }
    watch.add(first.interrupter)
    let others = ScriptCrew(name: "moonbase batch")
    for _ in 1..<jobs { start(others, state, shared, watch) }
    Self.work(first, state, shared) { done in
      let seconds = Date().timeIntervalSince(began)
      bar.show(done, of: chunks.count, rate: Double(done) / max(seconds, 0.001), unit: "chunks", seconds: seconds)
    }
    try others.wait()
    bar.end()
    let result = shared.withLock { $0 }
    if let error = result.error, !Interruption.hasCome || ExitStatus.status(for: error) != ExitStatus.interrupted {
      try summarize(result, chunks.count, began)
      throw error
    }
    if Interruption.hasCome {
      try summarize(result, chunks.count, began, isWhole: false)
      throw ExitCode(ExitStatus.interrupted)
    }
    let isFinished: Bool
    do { isFinished = try first.finish() } catch {
      try summarize(result, chunks.count, began)
      if !options.quiet {
        Terminal.complain("moonbase: all chunks are done, and finish failed: moonbase batch resume calls it again")
      }
      throw error
    }
    try summarize(result, chunks.count, began, isFinished: isFinished)
    if !isFinished { throw ExitCode(ExitStatus.rejects) }
  }

  /// Starts a thread of the crew.
  private func start(_ crew: ScriptCrew, _ state: JobState, _ shared: Lock<Shared>, _ watch: InterruptionWatch) {
    let (options, container) = (options, container)
    crew.start { _ in
      do {
        let (job, domain) = try options.makeJob(container)
        defer { domain.close() }
        watch.add(job.interrupter)
        Self.work(job, state, shared) { _ in }
      } catch {
        shared.withLock { $0.error = $0.error ?? error }
      }
    }
  }

  /// Takes chunks until none is left, an error occurs or SIGINT arrives. `show` receives the number
  /// of chunks done.
  private static func work(_ job: BatchJob, _ state: JobState, _ shared: Lock<Shared>, show: (Int) -> Void) {
    while !Interruption.hasCome,
      let chunk = shared.withLock({ $0.error == nil ? $0.rest.popLast() : nil })
    {
      do {
        let outcome = try job.perform(chunk, state) { Interruption.hasCome }
        let done = shared.withLock { shared in
          shared.done += 1
          switch outcome {
          case .done(let objects): shared.objects += objects
          case .doneElsewhere: break
          case .failed(let reason, _): shared.failures.append((chunk, reason))
          }
          return shared.done
        }
        show(done)
      } catch {
        shared.withLock { $0.error = $0.error ?? error }
      }
    }
  }

  /// Prints the summary, as text or JSON.
  private func summarize(
    _ result: Shared, _ count: Int, _ began: Date, isWhole: Bool = true, isFinished: Bool = false
  ) throws {
    let seconds = Date().timeIntervalSince(began)
    try summary.tell(
      [
        "job": .string(options.jobName), "chunks": .count(result.done - result.failures.count),
        "failed": .count(result.failures.count), "objects": .count(result.objects), "finished": .bool(isFinished),
        "seconds": .seconds(seconds),
      ], quiet: options.quiet, lines: lines(result, count, seconds, isWhole: isWhole))
  }

  /// The lines of the summary, with at most ten failures.
  private func lines(_ result: Shared, _ count: Int, _ seconds: Double, isWhole: Bool) -> [String] {
    var lines = result.failures.prefix(10).map { "chunk \($0.chunk): \($0.reason)" }
    if result.failures.count > 10 {
      lines.append("and \(result.failures.count - 10) chunks more: moonbase batch status lists them")
    }
    let rate = Int(Double(result.objects) / max(seconds, 0.001))
    lines.append(
      "\(options.jobName): \((result.done - result.failures.count).chunks) done, \(result.failures.count) failed, "
        + "\(result.objects) objects (\(String(format: "%.1f", seconds)) s, \(rate) objects/s)")
    if !isWhole || result.done < count || !result.failures.isEmpty {
      lines.append("the job is not finished: moonbase batch resume goes on")
    }
    return lines
  }
}

extension Int {
  /// The number with its noun, such as `1 chunk` or `2 chunks`.
  var chunks: String { "\(self) chunk\(self == 1 ? "" : "s")" }
}
