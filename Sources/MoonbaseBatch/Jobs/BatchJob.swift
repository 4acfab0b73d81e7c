package import MoonbaseGraph
package import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
package import MoonbaseScripting

/// A batch job over the objects of a store in chunks, each a single transaction together with its entry in the ledger.
/// If the job is killed at any moment and resumed, each chunk takes effect exactly once.
///
/// Each worker has its own job object with its own context and script. Workers coordinate through the ledger.
///
/// The order of calls is `begin` or `resume`, then `perform` for each open chunk in any order, then
/// `finish`. A job object belongs to the thread of its worker; only `interrupter` may be used from
/// other threads.
package final class BatchJob {
  /// The outcome of a chunk.
  package enum Outcome: Sendable {
    /// The chunk was processed, with this number of objects.
    case done(objects: Int)
    /// Another worker has processed the chunk.
    case doneElsewhere
    /// The chunk was set aside after its last attempt.
    case failed(reason: String, attempts: Int)
  }

  /// Another worker has processed the chunk in the meantime.
  private struct DoneElsewhere: Error {}

  /// The number of attempts after which a chunk is set aside.
  private static let greatestAttempts = 3

  /// The name of the job.
  package let name: String
  /// The job's script, in a domain of its own.
  private let script: BatchScript
  /// The context of the worker.
  private let context: ManagedObjectContext
  /// The store with the objects and the ledger.
  private let store: any PersistentStore
  /// The request whose objects are processed.
  private let request: FetchRequest
  /// The digests of the script and its files.
  private let code: JobCode
  /// The number of modules recorded in the ledger.
  private var notedModules = 0
  /// The objects by key, as found at the start.
  private var ids: IDList?

  /// A job with a script over the objects of its request.
  ///
  /// Throws `.unknownName` if the script's request names no entity of the model.
  package init(_ name: String, _ script: BatchScript, _ code: JobCode, in context: ManagedObjectContext) throws {
    (self.name, self.script, self.code, self.context) = (name, script, code, context)
    request = try script.request(in: context)
    guard let entity = context.model.entity(request.entityName) else {
      throw GraphError.unknownEntity(request.entityName, in: context.model)
    }
    store = try context.coordinator.storeForNewObjects(of: entity)
    notedModules = modules.count
  }

  /// Interrupts the script, from any thread.
  package var interrupter: LuaInterrupter { script.domain.state.interrupter }

  /// The modules loaded by the script so far.
  private var modules: [String] { script.domain.state.requiredFiles }

  /// The state of a job in the ledger of a store; nil if there is none with this name.
  package static func state(_ name: String, of store: any PersistentStore) throws -> JobState? {
    try Ledger.entry(name, of: store).map { try JobState($0, of: name) }
  }

  /// The names of a store's jobs.
  package static func names(in store: any PersistentStore) throws -> [String] { try entries(in: store).map(\.name) }

  /// The entries of a store's jobs, sorted by name. The metadata is read once.
  package static func entries(in store: any PersistentStore) throws -> [(name: String, entry: Ledger.Entry)] {
    guard case .map(let jobs)? = try store.metadata()[Ledger.key] else { return [] }
    return jobs.sorted { $0.key < $1.key }.compactMap { name, value in
      guard case .map(let entry) = value, entry["kind"] == .string("batch") else { return nil }
      return (name, entry)
    }
  }

  /// The job that a person names by its name or its script; nil for another.
  ///
  /// - Parameters:
  ///   - text: A name such as `tidy`, or a path such as `jobs/tidy.lua`.
  ///   - names: The names of the known jobs.
  package static func name(_ text: String, among names: [String]) -> String? {
    names.first { $0 == text } ?? names.first { text == "\($0).lua" || text.hasSuffix("/\($0).lua") }
  }

  /// The message for an unknown job.
  package static func unknown(_ name: String, among names: [String]) -> String {
    let known = names.isEmpty ? "it knows none" : "it knows \(names.prefix(20).joined(separator: ", "))"
    return "the store knows no job \(name) (\(known)\(names.count > 20 ? " and more" : ""))"
  }

  /// The state of this job; nil before it was begun.
  package var state: JobState? { get throws { try Self.state(name, of: store) } }

  // MARK: Beginning and end

  /// Begins the job: divides the objects into chunks and runs the script's `start`, in a single transaction. Throws if
  /// the job has begun and not ended.
  ///
  /// Chunks are ranges of keys. Throws `.invalidRequest` for a job under way, and for keys too
  /// great to divide.
  package func begin(chunkSize: Int) throws -> JobState {
    // Checked before the script runs, and again when writing, because another process may begin the job.
    if let known = try state, !known.isFinished { throw Self.underWay(name) }
    let found = try objectIDs()
    if let last = found.last, last.key > LedgerReader.greatestCount {
      throw GraphError(
        .invalidRequest, message: "\(last.key) is too great a key for a job, which divides objects by their keys")
    }
    let state = JobState(
      hash: code.hash, files: code.files(modules: modules), last: found.last?.key ?? 0, chunkSize: chunkSize)
    let name = name
    let change = Ledger.change(name, of: store) { [name] entry in
      if let known = try entry.map({ try JobState($0, of: name) }), !known.isFinished { throw Self.underWay(name) }
      return state.entry
    }
    try context.transaction(with: change) {
      try script.start(context, .init(name: name, chunks: state.chunks))
    }
    return state
  }

  /// The error that a job has begun and not ended.
  private static func underWay(_ name: String) -> GraphError {
    GraphError(
      .invalidRequest,
      message: "the job \(name) is under way: go on with moonbase batch resume, or take another name with --name")
  }

  /// Resumes a job. Throws if there is none, and if the script has changed, unless changes are accepted.
  ///
  /// Throws `.invalidRequest`. With `acceptingChanges`, the digests of the new code are recorded.
  package func resume(acceptingChanges: Bool) throws -> JobState {
    guard let state = try state else {
      throw GraphError(
        .invalidRequest,
        message: "\(Self.unknown(name, among: try Self.names(in: store))): begin it with moonbase batch run")
    }
    guard !state.isFinished else { return state }
    let changes =
      (state.hash == code.hash ? [] : ["the script has changed"]) + code.changes(since: state.files, modules: modules)
    guard !changes.isEmpty || state.files == nil else { return state }
    guard acceptingChanges || changes.isEmpty else {
      let more = changes.count > 5 ? ", and \(changes.count - 5) more" : ""
      throw GraphError(
        .invalidRequest,
        message:
          "the code of the job \(name) is not what it was begun with (\(changes.prefix(5).joined(separator: ", "))\(more)), "
          + "and \(state.done.count) chunks are done: moonbase batch resume --accept-changes goes on with the new one")
    }
    let (hash, files) = (code.hash, code.files(modules: modules))
    try store.change(
      Ledger.change(name, of: store) { [name] entry in
        guard var state = try entry.map({ try JobState($0, of: name) }) else { return entry }
        (state.hash, state.files) = (hash, files)
        return state.entry
      })
    return state
  }

  /// Runs the script's `finish` once, after all chunks are done. Returns false if they are not.
  ///
  /// If several workers call it, one of them runs the script; the others find the job finished.
  package func finish() throws -> Bool {
    guard let state = try state, !state.isFinished else { return true }
    guard state.done.count == state.chunks else { return false }
    let change = Ledger.change(name, of: store) { [name] entry in
      guard var state = try entry.map({ try JobState($0, of: name) }), !state.isFinished else { throw DoneElsewhere() }
      state.isFinished = true
      state.saved = Date()
      return state.entry
    }
    do {
      try context.transaction(with: change) {
        try script.finish(context, .init(name: name, chunks: state.chunks))
      }
    } catch is DoneElsewhere {}
    return true
  }

  // MARK: Chunks

  /// The keys of all objects that the request finds, in ascending order. The list is fetched once.
  private func objectIDs() throws -> IDList {
    if let ids { return ids }
    var request = request
    request.sortDescriptors = []
    let found = try context.fetchIDList(request).sortedByKey()
    ids = found
    return found
  }

  /// Processes a chunk. A chunk that fails is repeated with increasing delays and then set aside.
  ///
  /// Throws an error that ends the job: a store that cannot be written, a run that must end.
  ///
  /// The attempts are separated by 0.1 and 0.4 seconds. `isEnding` suppresses further attempts.
  package func perform(_ chunk: Int, _ state: JobState, isEnding: () -> Bool = { false }) throws -> Outcome {
    var attempt = 1
    while true {
      do {
        return try tryToPerform(chunk, state, attempt: attempt)
      } catch is DoneElsewhere {
        try context.reset()
        return .doneElsewhere
      } catch let error where ImportFailure.isOfRows(error) {
        try context.reset()
        if attempt < Self.greatestAttempts, !isEnding() {
          // A tenth of a second, then four tenths.
          usleep(UInt32(100_000 * attempt * attempt))
          attempt += 1
          continue
        }
        let reason = TextLimits.reason("\(error)")
        let attempts = attempt
        try store.change(
          Ledger.change(name, of: store) { [name] entry in
            guard var state = try entry.map({ try JobState($0, of: name) }), !state.done.contains(chunk) else {
              return entry
            }
            state.note(failed: chunk, attempts: attempts, reason: reason)
            return state.entry
          })
        return .failed(reason: reason, attempts: attempts)
      }
    }
  }

  /// Processes a chunk in a single transaction with its entry in the ledger.
  ///
  /// The objects are fetched again, because earlier chunks or other programs may have changed which
  /// objects the request finds. Throws `DoneElsewhere` if the ledger has the chunk already.
  private func tryToPerform(_ chunk: Int, _ state: JobState, attempt: Int) throws -> Outcome {
    let began = Date()
    let found = try objectIDs()
    let first = found.partitioningIndex { $0.key > Int64(chunk - 1) * state.width }
    let last = found.partitioningIndex { $0.key > min(Int64(chunk) * state.width, state.last) }
    let wanted = Array(found[first..<last])
    let count = Lock(0)
    let loaded = Lock(JobFiles?.none)
    let change = Ledger.change(name, of: store) { [name] entry in
      guard var known = try entry.map({ try JobState($0, of: name) }), known.width == state.width else {
        throw GraphError(
          .storeFailure, message: "the job is not in the ledger any more: it was begun anew, or the store replaced")
      }
      guard !known.done.contains(chunk) else { throw DoneElsewhere() }
      known.note(done: chunk, objects: count.withLock { $0 }, seconds: Date().timeIntervalSince(began))
      if let files = loaded.withLock({ $0 }) { known.files?.add(files) }
      return known.entry
    }
    try context.transaction(with: change) {
      guard !wanted.isEmpty else { return }
      let objects = try self.objects(wanted)
      count.withLock { $0 = objects.count }
      guard !objects.isEmpty else { return }
      try script.chunk(
        objects, context, .init(name: name, chunk: chunk, chunks: state.chunks, attempt: attempt))
      if modules.count > notedModules { loaded.withLock { $0 = code.files(modules: modules) } }
    }
    notedModules = modules.count
    try context.reset()
    return .done(objects: count.withLock { $0 })
  }

  /// The objects that the request still finds, by key.
  private func objects(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    var request = request
    request.sortDescriptors = []
    let among = Predicate.comparison(
      .init(.evaluatedObject, .in, .constant(.list(ids.map(Value.objectID)))))
    request.predicate = request.predicate.map { .and([$0, among]) } ?? among
    return try context.fetch(request).sorted { $0.objectID.key < $1.objectID.key }
  }
}
