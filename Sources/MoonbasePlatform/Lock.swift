/// A value protected by a pthread lock, the only kind of lock in this package.
///
/// `Synchronization.Mutex` is not used, because the thread sanitizer does not understand its futex and reports false
/// races. The state is outside of the object for the same reason: a stored property of size zero has the address of the
/// object's header, and the sanitizer would report accesses to both as a race.
package final class Lock<State>: @unchecked Sendable {  // `state` is reached only while `mutex` is held
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let state: UnsafeMutablePointer<State>

  /// A lock with this state.
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
  /// Not reentrant: `body` must not lock again.
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Runs `body` with exclusive access to the state. Throws the error of the run on this thread if it must end before
  /// the lock is acquired.
  package func withLockInTime<Result>(_ body: (inout sending State) throws -> sending Result) throws -> sending Result {
    try lockInTime()
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Acquires the lock until the hold is released, for work of a thread in several calls. Throws the error of the run
  /// on this thread if it must end before the lock is acquired.
  package func holdInTime() throws -> LockHold<State> {
    try lockInTime()
    return LockHold(self)
  }

  private func lockInTime() throws {
    while !acquireSoon() {
      if HostWork.isOver { throw HostWork.ending() }
    }
  }

  /// Tries to acquire the lock for a short time.
  private func acquireSoon() -> Bool {
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

  /// The microseconds between checks whether the run on this thread must end.
  private static var pause: UInt32 { 20_000 }

  fileprivate func unlock() { pthread_mutex_unlock(mutex) }
  fileprivate var held: UnsafeMutablePointer<State> { state }
}

/// A lock held until it is released, on the thread that acquired it.
package final class LockHold<State> {
  private var lock: Lock<State>?

  fileprivate init(_ lock: Lock<State>) { self.lock = lock }

  deinit { release() }

  /// Runs `body` with the state; nil after release.
  @discardableResult
  package func callAsFunction<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
    guard let lock else { return nil }
    return try body(&lock.held.pointee)
  }

  /// Releases the lock. Further calls have no effect.
  package func release() {
    lock?.unlock()
    lock = nil
  }
}
