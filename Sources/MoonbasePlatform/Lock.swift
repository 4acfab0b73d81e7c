/// A value behind a pthread lock: the one kind of lock in this package.
///
/// `Synchronization.Mutex` would do, but the thread sanitizer does not understand its futex and reports races that are
/// none; it understands pthread locks. The state lies outside the object for the same reason: a stored property of no size
/// has the address of the object's header, and the sanitizer takes the one's writing and the other's reading for a race.
package final class Lock<State>: @unchecked Sendable {  // `state` is reached only while `mutex` is held
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let state: UnsafeMutablePointer<State>

  package init(_ state: sending State) {
    self.state = .allocate(capacity: 1)
    self.state.initialize(to: state)
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Runs `body` with exclusive access to the state.
  ///
  /// Not reentrant: `body` must not take the same lock again.
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Does the same, and throws the error of the run on this thread if that must end before the lock is free.
  package func withLockInTime<Result>(_ body: (inout sending State) throws -> sending Result) throws -> sending Result {
    try lockInTime()
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Waits for the lock and keeps it until the hold is released: for what one thread does in several calls. Throws the error of the run on this
  /// thread if that must end before the lock is free.
  package func holdInTime() throws -> LockHold<State> {
    try lockInTime()
    return LockHold(self)
  }

  private func lockInTime() throws {
    while !isTakenSoon() {
      if HostWork.isOver { throw HostWork.ending() }
    }
  }

  /// Waits for the lock, but not for long.
  private func isTakenSoon() -> Bool {
    if pthread_mutex_trylock(mutex) == 0 { return true }
    #if canImport(Darwin)
      usleep(Self.pause / 10)
      return pthread_mutex_trylock(mutex) == 0
    #else
      var end = timespec()
      clock_gettime(CLOCK_REALTIME, &end)
      end.tv_nsec += Int(Self.pause) * 1000
      if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
      return pthread_mutex_timedlock(mutex, &end) == 0
    #endif
  }

  /// Between two looks whether the run on this thread must end, in microseconds.
  private static var pause: UInt32 { 20_000 }

  fileprivate func unlock() { pthread_mutex_unlock(mutex) }
  fileprivate var held: UnsafeMutablePointer<State> { state }
}

/// A lock that is held until it is released, on the thread that took it.
package final class LockHold<State> {
  private var lock: Lock<State>?

  fileprivate init(_ lock: Lock<State>) { self.lock = lock }

  deinit { release() }

  /// Runs `body` with the state; nil once it was released.
  @discardableResult
  package func callAsFunction<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
    guard let lock else { return nil }
    return try body(&lock.held.pointee)
  }

  /// Lets others have the lock; a second time nothing happens.
  package func release() {
    lock?.unlock()
    lock = nil
  }
}
