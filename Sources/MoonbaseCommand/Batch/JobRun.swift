import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseScripting

/// Works on chunks with several threads, and tells what came of it.
struct JobRun {
  private let options: JobOptionGroup
  private let container: PersistentContainer
  private let jobs: Int

  init(_ options: JobOptionGroup, _ container: PersistentContainer, jobs: Int) {
    (self.options, self.container, self.jobs) = (options, container, jobs)
  }

  static func check(_ jobs: Int) throws {
    guard (1...64).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 64, not \(jobs)") }
  }

  /// What threads share: the chunks that nobody has taken yet, and what became of the others.
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
      summarize(result, chunks.count, began)
      throw error
    }
    if Interruption.hasCome {
      summarize(result, chunks.count, began, isWhole: false)
      throw ExitCode(ExitStatus.interrupted)
    }
    let isFinished: Bool
    do { isFinished = try first.finish() } catch {
      summarize(result, chunks.count, began)
      if !options.quiet {
        Terminal.complain("moonbase: all chunks are done, and finish failed: moonbase batch resume calls it again")
      }
      throw error
    }
    summarize(result, chunks.count, began)
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

  private func summarize(_ result: Shared, _ count: Int, _ began: Date, isWhole: Bool = true) {
    guard !options.quiet else { return }
    let seconds = Date().timeIntervalSince(began)
    for (chunk, reason) in result.failures.prefix(10) { Terminal.complain("moonbase: chunk \(chunk): \(reason)") }
    if result.failures.count > 10 {
      Terminal.complain("moonbase: and \(result.failures.count - 10) chunks more: moonbase batch status lists them")
    }
    let rate = Int(Double(result.objects) / max(seconds, 0.001))
    Terminal.complain(
      "moonbase: \(options.jobName): \((result.done - result.failures.count).chunks) done, \(result.failures.count) failed, "
        + "\(result.objects) objects (\(String(format: "%.1f", seconds)) s, \(rate) objects/s)")
    if !isWhole || result.done < count || !result.failures.isEmpty {
      Terminal.complain("moonbase: the job is not finished: moonbase batch resume goes on")
    }
  }
}

extension Int {
  /// `1 chunk`, `2 chunks`.
  var chunks: String { "\(self) chunk\(self == 1 ? "" : "s")" }
}
