#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Waits for changes in folders: by events of the system where it has them for whole folders (inotify), elsewhere by a
/// look at regular intervals.
package final class FolderEvents: Sendable {
  #if os(Linux)
    private let events: Int32
    /// A pipe: what ends the wait reads from the first of it what the second writes.
    private let stopper: Int32
    private let ender: Int32

    /// Nil where the folder cannot be watched.
    package convenience init?(folder: String) {
      self.init()
      guard watch(folder) else { return nil }
    }

    /// Watches nothing yet. Nil where the system has no more descriptors.
    package init?() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (stopper, ender) = (ends[0], ends[1])
      events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
      // An object that is given up here goes as any other does, and closes what it has.
      guard events >= 0 else { return nil }
    }

    /// Watches one more folder; false where it cannot be watched. A folder that is watched already stays so, and one
    /// that went and came back is watched again.
    @discardableResult
    package func watch(_ folder: String) -> Bool {
      let kinds = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE)
      return inotify_add_watch(events, folder, kinds) >= 0
    }

    deinit {
      for descriptor in [stopper, ender, events] where descriptor >= 0 { close(descriptor) }
    }

    /// Waits until something may have changed, or so long. False once `stop` was called.
    package func wait(milliseconds: Int32) -> Bool { look(milliseconds: milliseconds) != nil }

    /// Waits until nothing has changed for so long, ten times as long at most. False once `stop` was called.
    package func settle(milliseconds: Int32) -> Bool {
      for _ in 0..<10 {
        guard let isNews = look(milliseconds: milliseconds) else { return false }
        if !isNews { return true }
      }
      return true
    }

    /// Whether something changed within so long; nil once `stop` was called.
    private func look(milliseconds: Int32) -> Bool? {
      var waited = [
        pollfd(fd: events, events: Int16(POLLIN), revents: 0), pollfd(fd: stopper, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&waited, 2, milliseconds)
      if waited[1].revents != 0 { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(events, &bytes, bytes.count) > 0 {}
      return waited[0].revents != 0
    }

    /// Ends the wait, now and for ever.
    package func stop() {
      var byte: UInt8 = 0
      _ = write(ender, &byte, 1)
    }
  #else
    private let isOver = Lock(false)

    /// Any folder can be looked at.
    package init?(folder: String) {}

    /// Watches nothing yet.
    package init?() {}

    /// Any folder can be looked at.
    @discardableResult
    package func watch(_ folder: String) -> Bool { true }

    /// Waits for so long. False once `stop` was called.
    package func settle(milliseconds: Int32) -> Bool { wait(milliseconds: milliseconds) }

    /// Waits for a moment, so long at most. False once `stop` was called.
    package func wait(milliseconds: Int32) -> Bool {
      usleep(UInt32(min(milliseconds, 200)) * 1000)
      return !isOver.withLock { $0 }
    }

    /// Ends the wait, now and for ever.
    package func stop() { isOver.withLock { $0 = true } }
  #endif
}
