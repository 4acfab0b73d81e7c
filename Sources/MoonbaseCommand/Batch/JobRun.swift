import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Works on chunks with several threads, and reports the outcome.
struct JobRun {
  private let options: JobOptionGroup
  private let container: PersistentContainer
  private let jobs: Int
  private let summary: SummaryOptionGroup

  init(_ options: JobOptionGroup, _ container: PersistentContainer, jobs: Int, _ summary: SummaryOptionGroup) {
    (self.options, self.container, self.jobs, self.summary) = (options, container, jobs, summary)
  }

  static func check(_ jobs: Int) throws {
    guard (1...64).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 64, not \(jobs)") }
  }

  /// The state that the threads share: the chunks that no thread has taken yet, and the outcome of the others.
  private struct Shared {
    var rest: [Int]
    var done = 0
    var objects = 0
    var failures: [(chunk: Int, reason: String)] = []
    var error: (any Error)?
  }

  /// Works on chunks, and finishes the job when all are done.
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
