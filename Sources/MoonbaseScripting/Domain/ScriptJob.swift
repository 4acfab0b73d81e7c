import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// A module's function that runs on a thread of its own, in a state and a context of its own.
final class ScriptJob: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var isCanceled = false
    /// Whether the script was told how it ended.
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

  /// Begins, with the values of the script's call.
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

  /// Whether it came to its end, in whichever way.
  var isDone: Bool { crew.runningCount == 0 }

  /// How much of its work is done, from 0 to 1, as its `moonbase.progress` says; nil where that says nothing.
  var progress: Double? {
    get { state.withLock { $0.progress } }
    set { state.withLock { $0.progress = newValue } }
  }

  /// Ends it.
  func cancel() {
    state.withLock { $0.isCanceled = true }
    crew.interrupt()
  }

  /// Waits for the end and gives the result. Throws the error of the run that waits, where that must end; the job is
  /// ended then.
  func wait() throws -> Result<Value, any Error> {
    try crew.wait()
    return state.withLock { state in
      state.isTold = true
      guard let result = state.result else { return .failure(CancellationError()) }
      guard case .failure(let error) = result, state.isCanceled else { return result }
      return .failure((error as? LuaError)?.kind == .interrupted ? CancellationError() : error)
    }
  }

  /// Waits for the end, and leaves the failure for the end of the program.
  fileprivate func waitUntold() throws { try crew.wait() }

  /// The error with which it ended, where no script was told of it.
  var untoldFailure: (any Error)? {
    state.withLock { state in
      guard !state.isTold, !state.isCanceled, case .failure(let error)? = state.result else { return nil }
      return error
    }
  }
}

/// The jobs that a script began.
extension ScriptDomain {
  /// Waits for all jobs, as long as the limits of the run allow. The failure of a job that no script waited for is
  /// reported at the end of the program.
  func finishJobs() throws {
    for job in jobs {
      if !job.isDone { _ = try job.waitUntold() }
      if let error = job.untoldFailure {
        unseenFailure = UnseenFailure(error: ErrorBox(job.told(error), domain: self), cause: .job)
      }
    }
    jobs = []
  }

  /// Ends all jobs.
  func cancelJobs() {
    for job in jobs { job.cancel() }
    for job in jobs { _ = try? job.waitUntold() }
    jobs = []
  }

  /// Notes a job that is about to begin. Throws where too many run.
  func add(_ job: ScriptJob) throws {
    jobs.removeAll { $0.isDone && $0.untoldFailure == nil }
    guard jobs.count(where: { !$0.isDone }) < Self.greatestJobCount else {
      throw ScriptError(
        .invalidRequest,
        message: "\(Self.greatestJobCount) jobs run already: wait for one of them before the next begins")
    }
    jobs.append(job)
  }

  /// Each takes a thread, a state and the limits of one.
  private static let greatestJobCount = 64
}

extension ScriptJob {
  /// An error of another thread's state as one that a script gets.
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
