import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A module's function that runs on its own thread, with its own state and context.
///
/// `moonbase.background(module, ...)` starts one. The job reads the saved state of the stores, not the caller's unsaved
/// changes. The script waits with `job:wait()`; the domain keeps the job until its outcome was received. All members
/// may be used on any thread.
final class ScriptJob: Sendable {
  /// The state that the lock protects.
  private struct State {
    /// The outcome; nil while the job runs.
    var result: Result<Value, any Error>?
    /// Whether `cancel()` was called. A later interruption then counts as cancellation.
    var isCanceled = false
    /// Whether the script received the outcome.
    var isTold = false
    var progress: Double?
  }

  /// The module's name, as passed to `require`.
  let module: String
  /// A crew of one thread.
  private let crew: ScriptCrew
  private let state = Lock(State())

  /// A job that has not started.
  init(_ module: String) {
    self.module = module
    crew = ScriptCrew(name: "Moonbase job")
  }

  /// Starts the job with the arguments of the script's call.
  ///
  /// The arguments are copied values, because Lua values cannot cross states.
  func start(_ setting: ScriptWorker.Setting, _ arguments: [Value]) {
    crew.start { [self] crew in
      let result = Result {
        let worker = try ScriptWorker(setting, crew)
        worker.domain.job = self
        return try worker.call(arguments)
      }
      state.withLock { $0.result = result }
    }
  }

  /// Whether the job has ended, in any way.
  var isDone: Bool { crew.runningCount == 0 }

  /// The completed fraction of the work, from 0 to 1, as its `moonbase.progress` reports it; nil without a report.
  var progress: Double? {
    get { state.withLock { $0.progress } }
    set { state.withLock { $0.progress = newValue } }
  }

  /// Interrupts the job. Returns at once; `isDone` becomes true when the thread has ended.
  func cancel() {
    state.withLock { $0.isCanceled = true }
    crew.interrupt()
  }

  /// Waits for the end and returns the result. If the waiting run must end, throws its error after ending the job.
  ///
  /// A cancelled job fails with `CancellationError`. An error that the job threw for another reason stays as it is.
  func wait() throws -> Result<Value, any Error> {
    try crew.wait()
    return state.withLock { state in
      state.isTold = true
      guard let result = state.result else { return .failure(CancellationError()) }
      guard case .failure(let error) = result, state.isCanceled else { return result }
      return .failure((error as? LuaError)?.kind == .interrupted ? CancellationError() : error)
    }
  }

  /// Waits for the end, leaving a failure for the end of the program.
  fileprivate func waitUntold() throws { try crew.wait() }

  /// The job's error, if no script received it.
  var untoldFailure: (any Error)? {
    state.withLock { state in
      guard !state.isTold, !state.isCanceled, case .failure(let error)? = state.result else { return nil }
      return error
    }
  }
}

/// The jobs that a script started.
extension ScriptDomain {
  /// Waits for all jobs, within the limits of the run. The failure of a job that no script waited for is reported at
  /// the end of the program. Clears the list. Throws the error of an exceeded limit of the waiting run.
  func finishJobs() throws {
    for job in jobs {
      if !job.isDone { _ = try job.waitUntold() }
      if let error = job.untoldFailure {
        unseenFailure = UnseenFailure(error: ErrorBox(job.told(error), domain: self), cause: .job)
      }
    }
    jobs = []
  }

  /// Interrupts all jobs. Waits until their threads have ended, and drops their errors.
  func cancelJobs() {
    for job in jobs { job.cancel() }
    for job in jobs { _ = try? job.waitUntold() }
    jobs = []
  }

  /// Adds a job about to start. Throws if too many jobs run. Forgets jobs that have ended and have no unread failure.
  /// Throws `.invalidRequest` beyond `greatestJobCount`.
  func add(_ job: ScriptJob) throws {
    jobs.removeAll { $0.isDone && $0.untoldFailure == nil }
    guard jobs.count(where: { !$0.isDone }) < Self.greatestJobCount else {
      throw ScriptError(
        .invalidRequest,
        message: "\(Self.greatestJobCount) jobs run already: wait for one of them before the next begins")
    }
    jobs.append(job)
  }

  /// The most running jobs. Each takes a thread, a state and its limits.
  private static let greatestJobCount = 64
}

extension ScriptJob {
  /// An error of another thread's state, converted for a script.
  ///
  /// The result is a coded error: of the graph as it is, of Lua with the code of its cause, `.interrupted` for a
  /// cancelled job.
  func told(_ error: any Error) -> any CodedError {
    if error is CancellationError {
      return GraphError(.interrupted, message: "the job of module \(module) was cancelled")
    }
    if let error = error as? any CodedError { return error }
    let script = error as? LuaError
    if let known = script?.hostError as? any CodedError { return known }
    let code = script?.codeOfEnd ?? script?.codeOfScript ?? .extensionFailure
    return GraphError(code, message: "module \(module): \(error)", underlying: error)
  }
}
