import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `moonbase.background` and `moonbase.parallel`: modules that run on other threads.
extension ScriptDomain {
  /// `maker` makes the states of the jobs, which cannot start jobs themselves.
  func installJobs(maker: ScriptDomainMaker) throws {
    let types = types
    try define("background", upTo: 2) { [unowned types] call in
      let domain = try types.openDomain()
      let module = try call.text(0)
      let arguments = try domain.valueToHandOver(call.value(1), as: "the argument of moonbase.background")
      let context = try domain.contextOfJobs()
      let job = ScriptJob(module)
      try domain.add(job)
      job.start(ScriptWorker.Setting(module, in: context, maker: maker), [arguments])
      try call.return(job, as: types.job)
    }
    try define("parallel", upTo: 3) { [unowned types] call in
      let domain = try types.openDomain()
      let box = try call.object(0, as: RequestBox.self, name: "fetch request")
      let module = try call.text(1)
      let arguments = try domain.valueToHandOver(call.value(2), as: "the argument of moonbase.parallel")
      let parts = try Self.parts(of: box)
      let results = try Self.results(
        of: parts, arguments, ScriptWorker.Setting(module, in: box.context, maker: maker))
      try domain.answer(&call, with: results, of: module)
    }
  }

  /// The context whose stores a job uses: `moonbase.context`, or the only open context. Throws `.invalidRequest` for no
  /// context or several, `.contextBusy` within a hook.
  private func contextOfJobs() throws -> ManagedObjectContext {
    let roots = contexts.all.filter { $0.parent == nil }
    if let context = contexts.given ?? (roots.count == 1 ? roots.first : nil) {
      try context.refuseJobsWithinHooks()
      return context
    }
    throw ScriptError(
      .invalidRequest,
      message: roots.isEmpty
        ? "a job works on the stores of moonbase.context, and there is none: name a store"
        : "a job works on the stores of moonbase.context, and there is none, but \(roots.count) contexts that were opened"
    )
  }

  /// The number of parts for each thread, so that threads finish at about the same time.
  private static let partsOfThread = 8
  /// The most objects of a part, because a part is a transaction of its own.
  private static let greatestPart = 5000

  /// The IDs of a request's objects, in order, divided into parts. Unsaved objects are refused.
  private static func parts(of box: RequestBox) throws -> [[ManagedObjectID]] {
    try box.context.refuseJobsWithinHooks()
    let ids = try box.context.fetchIDs(box.objectRequest("parallel"))
    guard !ids.contains(where: \.isTemporaryID) else {
      throw ScriptError(
        .invalidRequest, message: "moonbase.parallel: the request finds objects that are not saved: save them first")
    }
    let size = max(1, min(greatestPart, ids.count / (HostErrand.coreCount * partsOfThread)))
    return stride(from: 0, to: ids.count, by: size).map { Array(ids[$0..<min(ids.count, $0 + size)]) }
  }

  /// Runs the parts on as many threads as there are cores. Blocks until all have ended.
  private static func results(
    of parts: [[ManagedObjectID]], _ arguments: Value, _ setting: ScriptWorker.Setting
  ) throws -> [Result<Value, any Error>] {
    try ScriptCrew(name: "Moonbase parallel").results(of: parts, on: HostErrand.coreCount) { crew in
      try ScriptWorker(setting, crew)
    } work: { worker, ids in
      try worker.call([.list(ids.map(Value.objectID)), arguments])
    }
  }

  /// Returns the results in the order of the parts, with `moonbase.null` for failed parts, followed by a table of their
  /// errors by part number if any failed. An error that is not read is reported at the end of the program.
  private func answer(_ call: inout LuaCall, with results: [Result<Value, any Error>], of module: String) throws {
    let job = ScriptJob(module)
    let errors = try state.table()
    var first: ErrorBox?
    let values = try results.enumerated().map { index, result -> LuaValue in
      switch result {
      case .success(let value): return value.isNull ? .null : try luaValue(from: value)
      case .failure(let error):
        let box = ErrorBox(job.told(error), domain: self, calls: state.callsUnderWay())
        first = first ?? box
        try errors.set(.integer(Int64(index + 1)), to: .object(LuaObject(box, as: types.error)))
        return .null
      }
    }
    try call.return(.table(state.list(values)))
    guard let first else { return }
    unseenFailure = UnseenFailure(error: first, cause: .job)
    try call.return(.table(errors))
  }
}

extension ManagedObjectContext {
  /// Throws within a hook, because the store may wait for the hook while the job waits for the store. The code is
  /// `.contextBusy`.
  fileprivate func refuseJobsWithinHooks() throws {
    guard isWithinHook else { return }
    throw GraphError(
      .contextBusy, message: "a job was begun while the context runs a hook: do it where the hook's cause is done")
  }
}

extension HostTypes {
  /// Describes `is_done`, `progress`, `cancel()` and `wait()`, which returns the result, or nil and the error.
  func describeJob() {
    job.property("is_done", get: { job, call in call.return(job.isDone) })
    job.property(
      "progress", get: { job, call in if let share = job.progress { call.return(share) } else { call.returnNil() } })
    job.method("cancel", upTo: 0) { job, _ in job.cancel() }
    job.method("wait", upTo: 0) { [unowned self] job, call in
      let domain = try openDomain()
      switch try job.wait() {
      case .success(let value): try call.return(domain.luaValue(from: value))
      case .failure(let error):
        let box = ErrorBox(job.told(error), domain: domain, calls: state.callsUnderWay())
        domain.unseenFailure = UnseenFailure(error: box, cause: .job)
        call.returnNil()
        try call.return(box, as: self.error)
      }
    }
    job.operator(.text) { call in
      let job = try call.object(0, as: ScriptJob.self)
      call.return("job of module \(job.module) (\(job.isDone ? "done" : "running"))")
    }
  }
}
