import ArgumentParser
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The objects that workers take in batches, and the results of the work.
///
/// The object is shared by the workers and protected by locks. It hands out batches, adds up
/// reports, prints failures, and coordinates the end after an error or SIGINT.
final class EachWork: Sendable {
  /// The state behind its lock.
  private struct State {
    /// The index of the next object.
    var next = 0
    /// The totals of finished batches.
    var report = EachReport()
    /// The number of changes that were offered to a dry run's display.
    var shownCount = 0
    /// The failures, by kind.
    var failures = RepeatedFailures()
    /// The changes that a dry run shows.
    var examples: [String] = []
  }

  /// The time that a batch has to finish after SIGINT. After that, the running code is interrupted too.
  private static let grace = Duration.milliseconds(400)
  /// The most changes that a dry run shows.
  private static let shownObjects = 10

  /// Whether nothing is saved.
  let isDry: Bool
  /// The objects to visit.
  private let ids: IDList
  /// The number of objects in a batch.
  private let batch: Int
  /// Whether progress and summary are omitted.
  private let quiet: Bool
  /// The options of the summary.
  private let summary: SummaryOptionGroup
  /// The name of the store; nil if there is only one.
  private let store: String?
  /// The progress bar.
  private let bar: Lock<ProgressBar>
  /// The state.
  private let state = Lock(State())
  /// The threads of the workers.
  private let crew = ScriptCrew(name: "moonbase each")

  /// `store` is the name of the store in the summary if there are several stores.
  init(
    _ ids: IDList, batch: Int, isDry: Bool, quiet: Bool, summary: SummaryOptionGroup, store: String? = nil
  ) {
    (self.ids, self.batch, self.isDry, self.quiet) = (ids, batch, isDry, quiet)
    (self.summary, self.store) = (summary, store)
    bar = Lock(ProgressBar(quiet: quiet))
  }

  // MARK: For workers

  /// The next batch, or nil at the end and when the work is stopping.
  func next() -> [ManagedObjectID]? {
    guard !isStopping else { return nil }
    return state.withLock { state in
      guard state.next < ids.count else { return nil }
      let range = state.next..<min(ids.count, state.next + batch)
      state.next = range.upperBound
      return Array(ids[range])
    }
  }

  /// Whether no more objects may be visited.
  var isStopping: Bool { Interruption.hasCome || crew.isStopping }

  /// Records a finished batch, whose changes are saved.
  func note(_ report: EachReport) { state.withLock { $0.report.add(report) } }

  /// Records that an object could not be saved or that its code failed. The object is unchanged.
  func noteFailure(_ id: ManagedObjectID, _ failure: String) {
    let text = TextLimits.reason(failure)
    state.withLock { state in
      state.report.failed += 1
      guard state.failures.isToBeTold(text) else { return }
      bar.withLock { $0.end() }
      Terminal.complain("moonbase: \(id.short): \(text)")
    }
  }

  /// Shows the change that a dry run would make to an object. Only the first changes are shown.
  ///
  /// The change is only computed if it is shown.
  func show(_ change: () throws -> String) rethrows {
    let isShown = state.withLock { state in
      state.shownCount += 1
      return state.shownCount <= Self.shownObjects
    }
    guard isShown else { return }
    let text = try change()
    if summary.json { state.withLock { $0.examples.append(text) } } else { Terminal.print(text) }
  }

  /// Registers a Lua state that has to be interrupted when the work is stopped.
  func add(_ interrupter: LuaInterrupter) { crew.add(interrupter) }

  // MARK: All of it

  /// Runs workers, each on a thread of its own, and reports the results. Throws the error that ended the work, or the
  /// exit status for failed objects.
  func run(jobs: Int, _ makeWorker: @escaping @Sendable (EachWork) throws -> EachWorker) throws {
    let start = ContinuousClock.now
    let count = max(1, min(jobs, (ids.count + batch - 1) / batch))
    for _ in 0..<count {
      crew.start { [self] _ in
        let worker = try makeWorker(self)
        defer { worker.close() }
        try worker.run()
      }
    }
    waitForWorkers()
    try tell((ContinuousClock.now - start) / .seconds(1))
  }

  /// Waits for the end of all workers, with progress. After the grace period of an interruption,
  /// Lua code is interrupted.
  private func waitForWorkers() {
    defer { bar.withLock { $0.end() } }
    var interrupted: ContinuousClock.Instant?
    // The summary contains the error that ended the work.
    try? crew.wait {
      let done = state.withLock { $0.report.visited + $0.report.gone }
      bar.withLock { $0.show(min(done, ids.count), of: ids.count) }
      guard Interruption.hasCome else { return }
      let since = interrupted ?? .now
      interrupted = since
      if .now - since > Self.grace { crew.interrupt() }
    }
  }

  /// Prints the summary. Throws the error of the run, or the exit status for failures.
  private func tell(_ seconds: Double) throws {
    let (report, failures) = state.withLock { ($0.report, $0.failures) }
    let failure = crew.failure
    for line in failures.rest { Terminal.complain("moonbase: \(line)") }
    // If no object was visited, there is nothing to report.
    if failure == nil || report.visited + report.givenUp > 0 {
      var object = report.values(of: ids.count, isDry: isDry, seconds: seconds)
      if let store { object["store"] = .string(store) }
      if isDry { object["examples"] = .texts(state.withLock(\.examples)) }
      try summary.tell(
        object, quiet: quiet, lines: [report.summary(of: ids.count, isDry: isDry, seconds: seconds)])
    }
    if Interruption.hasCome {
      throw GraphError(.interrupted, message: "interrupted: \(isDry ? "nothing was saved" : report.interruption)")
    }
    if let error = failure as? LuaError, let status = error.kind.exitStatus {
      throw ExitCode(Int32(truncatingIfNeeded: status))
    }
    if let failure { throw failure }
    if report.failed > 0 { throw ExitCode(ExitStatus.rejects) }
  }
}
