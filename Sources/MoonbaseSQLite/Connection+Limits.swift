internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// Statements for a script end with its run, and those for a task with its cancellation, except while a transaction
/// ends.
///
/// Installed by `init` for every connection. SQLite calls the progress handler during a statement and the busy handler
/// while it waits for a lock.
extension Connection {
  /// The SQLite steps between two checks, and the units charged for them.
  private static let stride: (steps: Int32, units: Int) = (1000, 300)

  /// Installs the progress handler and the busy handler. Both find the connection by an unretained reference.
  func installLimits() {
    let connection = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_progress_handler(
      handle, Self.stride.steps,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().mustStop() ? 1 : 0
      }, connection)
    sqlite3_busy_handler(
      handle,
      { context, count in
        guard let context else { return 0 }
        return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().waitsOn(afterTries: count) ? 1 : 0
      }, connection)
  }

  /// The call depth of triggers. SQLite's own limit is 1000.
  public static let greatestTriggerDepth = 32

  /// Sets SQLite's defensive flags: functions of triggers must be innocuous, the schema is not writable.
  func distrustSchema() {
    moonbase_distrust_schema(handle)
    sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, Int32(Self.greatestTriggerDepth))
  }

  /// Lets triggers and views of the file use virtual tables and functions that do not forbid it. The connection stays
  /// defensive. Used for files with R-trees, whose triggers write to virtual tables.
  package func trustSchema() { moonbase_trust_schema(handle) }

  /// Whether this build of SQLite has R-trees.
  package static var hasRTrees: Bool { sqlite3_compileoption_used("ENABLE_RTREE") != 0 }

  /// Limits the parameters of a statement. More fail with an error for which `SQLiteError.isLimit` is true. The limit
  /// is independent of the build of SQLite then.
  package func limitParameters(to count: Int) {
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, Int32(count))
  }

  /// Prevents SQL from naming other files: `ATTACH` and `VACUUM INTO` fail. Used where statements come from a user or a
  /// script.
  public func refuseOtherFiles() { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }

  /// SQLite's own limit. In bytes; more than any build of SQLite accepts.
  public static let greatestValue = 1_000_000_000

  /// Limited by the memory of the process: a value is copied several times before it is printed, and Swift crashes when
  /// memory is exhausted. In bytes, an eighth of the limit of the address space less 256 MiB. Without such a limit
  /// SQLite's own.
  private static let greatestInProcess: Int = {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
    #else
      let resource = RLIMIT_AS
    #endif
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < 64 << 30 else { return greatestValue }
    return max(1 << 20, (Int(limit.rlim_cur) - 256 << 20) / 8)
  }()

  /// Limits the size of values to the memory of the script, because SQLite would load a larger value before it could be
  /// charged. Called before each statement; changes SQLite's setting only if the bound changed.
  func boundValues() {
    let bound = Int32(clamping: min(HostWork.greatestValue, greatestValue, Self.greatestInProcess))
    if bound == valueBound { return }
    valueBound = bound
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, bound)
  }

  /// Limits SQLite's memory in this process, for all connections together. Exceeding it fails with `.noMemory`. Page
  /// caches recycle their pages from half of it on. A soft limit at half of it.
  public static func limitMemory(to bytes: Int) {
    sqlite3_hard_heap_limit64(sqlite3_int64(bytes))
    sqlite3_soft_heap_limit64(sqlite3_int64(bytes / 2))
  }

  /// Whether the running statement has to end: the script's limit, a cancelled task or request, or exceeded triggers.
  private func mustStop() -> Bool {
    (HostWork.mustEnd(after: Self.stride.units) || Task.isCancelled || isCancelled?() == true
      || triggerBound?.isUsedUp(after: Int(Self.stride.steps)) == true) && !isUnstoppable
  }

  /// Sleeps for a moment, longer at each try. Returns false after the timeout, or if the result is no longer wanted.
  /// The pauses double from 1 to 50 milliseconds.
  private func waitsOn(afterTries count: Int32) -> Bool {
    if count == 0 { waitingSince = .now }
    let rest = Duration.milliseconds(patience) - (ContinuousClock.now - waitingSince)
    guard rest > .zero else { return false }
    let pause = min(rest, .milliseconds(min(1 << min(count, 6), 50)))
    usleep(UInt32(pause / .microseconds(1)))
    return !HostWork.isOver && !Task.isCancelled
  }

  /// Runs a statement that ends a transaction. It must not be interrupted, because it might have taken effect.
  func unstoppably(_ sql: String) throws {
    isUnstoppable = true
    defer { isUnstoppable = false }
    try execute(sql)
  }
}
