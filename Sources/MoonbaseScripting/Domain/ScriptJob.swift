import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A module's function that runs on its own thread, with its own state and context.
final class ScriptJob: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var isCanceled = false
    /// Whether the script received the outcome.
    var isTold = false
    var progress: Double?
  }

  let module: String
  private let crew: ScriptCrew
  private let state = Lock(State())

  init(_ module: String) {
    self.module = module
    crew = ScriptCrew(name: "Moonbase job")
  }

  /// Starts the job with the arguments of the script's call.
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

  /// Interrupts the job.
  func cancel() {
    state.withLock { $0.isCanceled = true }
    crew.interrupt()
  }

  /// Waits for the end and returns the result. If the waiting run must end, throws its error after ending the job.
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
  /// the end of the program.
  func finishJobs() throws {
    for job in jobs {
      if !job.isDone { _ = try job.waitUntold() }
      if let error = job.untoldFailure {
        unseenFailure = UnseenFailure(error: ErrorBox(job.told(error), domain: self), cause: .job)
      }
    }
    jobs = []
  }

  /// Interrupts all jobs.
  func cancelJobs() {
    for job in jobs { job.cancel() }
    for job in jobs { _ = try? job.waitUntold() }
    jobs = []
  }

  /// Adds a job about to start. Throws if too many jobs run.
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
