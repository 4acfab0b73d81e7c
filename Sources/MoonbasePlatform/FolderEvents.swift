#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Waits for changes in a folder: events of the system where it has them for whole folders (inotify), elsewhere a look every so often, for which
/// somebody may have changed something at any time.
package final class FolderEvents: Sendable {
  #if os(Linux)
    private let events: Int32
    /// A pipe: what ends the wait reads from the first of it what the second writes.
    private let stopper: Int32
    private let ender: Int32

    /// Nil where the folder cannot be watched.
    package init?(folder: String) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (stopper, ender) = (ends[0], ends[1])
      events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
      let kinds = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE)
      // An object that is given up here goes as any other does, and closes what it has.
      guard events >= 0, inotify_add_watch(events, folder, kinds) >= 0 else { return nil }
    }

    deinit {
      for descriptor in [stopper, ender, events] where descriptor >= 0 { close(descriptor) }
    }

    /// Waits until something may have changed, or so long. False once `stop` was called.
    package func wait(milliseconds: Int32) -> Bool {
      var waited = [
        pollfd(fd: events, events: Int16(POLLIN), revents: 0), pollfd(fd: stopper, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&waited, 2, milliseconds)
      if waited[1].revents != 0 { return false }
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(events, &bytes, bytes.count) > 0 {}
      return true
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

    /// Waits for a moment, so long at most. False once `stop` was called.
    package func wait(milliseconds: Int32) -> Bool {
      usleep(UInt32(min(milliseconds, 200)) * 1000)
      return !isOver.withLock { $0 }
    }

    /// Ends the wait, now and for ever.
    package func stop() { isOver.withLock { $0 = true } }
  #endif
}
