import MoonbasePlatform

/// A serial executor with its own thread and a 16 MB stack, because scripts must not run on a small stack of unknown
/// size.
package final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()
  private nonisolated(unsafe) let thread: Thread  // sound: immutable, and used only for comparison of identity

  /// For messages. On Linux, reading a thread's name returns the name of the calling thread.
  private let name: String

  /// Starts the thread.
  package init(name: String) {
    self.name = name
    let queue = queue
    thread = Thread { queue.run() }
    thread.name = name
    thread.stackSize = 16 << 20
    thread.start()
  }

  deinit { queue.close() }

  /// Runs a job of the executor on the thread.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.add { job.runSynchronously(on: executor) }
  }

  /// Runs `body` on the thread, after all waiting jobs.
  func run(_ body: @escaping @Sendable () -> Void) { queue.add(body) }

  /// Whether the caller runs on the executor's thread.
  var isCurrent: Bool { Thread.current === thread }

  /// The confinement by which uses of a context on other threads are detected.
  var confinement: Confinement {
    // The closure must not retain the thread.
    Confinement(name: "the background context '\(name)'") { [weak self] in self?.isCurrent ?? true }
  }

  /// Ends the process if the caller is on another thread.
  package func checkIsolated() {
    precondition(isCurrent, "a managed object context was used outside of its own thread")
  }

  /// Runs `body` on the thread and waits for it; inline when already there.
  package func runAndWait(_ body: () -> Void) {
    if isCurrent { return body() }
    let done = DispatchSemaphore(value: 0)
    withoutActuallyEscaping(body) { body in
      let box = Box(body)
      queue.add {
        box.run()
        done.signal()
      }
      done.wait()
    }
  }

  /// Holds a closure and releases it after its run, so that no reference remains when the caller continues.
  private final class Box: @unchecked Sendable {  // one thread runs it while the other thread waits
    private var body: (() -> Void)?

    init(_ body: @escaping () -> Void) { self.body = body }

    func run() {
      body?()
      body = nil
    }
  }
}

/// The jobs of one thread. The thread retains the queue and not the executor, so that the executor can be released.
private final class JobQueue: @unchecked Sendable {  // `jobs` and `isClosed` are guarded by `condition`
  private let condition = NSCondition()
  private var jobs: [@Sendable () -> Void] = []
  private var isClosed = false

  /// Adds a job for the thread.
  func add(_ job: @escaping @Sendable () -> Void) {
    condition.lock()
    jobs.append(job)
    condition.signal()
    condition.unlock()
  }

  /// Lets the thread end after all waiting jobs.
  func close() {
    condition.lock()
    isClosed = true
    condition.signal()
    condition.unlock()
  }

  /// Runs jobs until the queue is closed; the main function of the thread.
  func run() {
    while let batch = next() {
      for job in batch { job() }
    }
  }

  /// Waits for jobs; returns nil once the queue is closed and empty.
  private func next() -> [@Sendable () -> Void]? {
    condition.lock()
    defer { condition.unlock() }
    while jobs.isEmpty && !isClosed { condition.wait() }
    defer { jobs = [] }
    return jobs.isEmpty ? nil : jobs
  }
}
