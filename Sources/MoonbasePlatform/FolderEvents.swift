#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Waits for changes in folders: by system events where available (inotify), otherwise by polling.
package final class FolderEvents: Sendable {
  #if os(Linux)
    private let events: Int32
    /// A pipe: the wait ends when a byte written to its second end arrives at the first.
    private let stopper: Int32
    private let ender: Int32

    /// Returns nil if the folder cannot be watched.
    package convenience init?(folder: String) {
      self.init()
      guard watch(folder) else { return nil }
    }

    /// Watches no folders yet. Nil if no descriptor is free.
    package init?() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (stopper, ender) = (ends[0], ends[1])
      events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
      // Returning nil here runs `deinit`, which closes the pipe.
      guard events >= 0 else { return nil }
    }

    /// Watches a further folder. Returns false if it cannot be watched. A folder may be added again, for example after
    /// it was recreated.
    @discardableResult
    package func watch(_ folder: String) -> Bool {
      let kinds = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE)
      return inotify_add_watch(events, folder, kinds) >= 0
    }

    deinit {
      for descriptor in [stopper, ender, events] where descriptor >= 0 { close(descriptor) }
    }

    /// Waits for a change, or for the timeout. Returns false after `stop`.
    package func wait(milliseconds: Int32) -> Bool { look(milliseconds: milliseconds) != nil }

    /// Waits for a period without changes, at most ten times that period. Returns false after `stop`.
    package func waitUntilQuiet(milliseconds: Int32) -> Bool {
      for _ in 0..<10 {
        guard let isNews = look(milliseconds: milliseconds) else { return false }
        if !isNews { return true }
      }
      return true
    }

    /// Whether a change occurred within the timeout; nil after `stop`.
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

    /// Ends the current wait and all later ones.
    package func stop() {
      var byte: UInt8 = 0
      _ = write(ender, &byte, 1)
    }
  #else
    private let isOver = Lock(false)

    /// Never fails, because every folder can be polled.
    package init?(folder: String) {}

    /// Watches no folders yet.
    package init?() {}

    /// Always true, because every folder can be polled.
    @discardableResult
    package func watch(_ folder: String) -> Bool { true }

    /// Waits for the period. Returns false after `stop`.
    package func waitUntilQuiet(milliseconds: Int32) -> Bool { wait(milliseconds: milliseconds) }

    /// Waits for a moment, at most the timeout. Returns false after `stop`.
    package func wait(milliseconds: Int32) -> Bool {
      usleep(UInt32(min(milliseconds, 200)) * 1000)
      return !isOver.withLock { $0 }
    }

    /// Ends the current wait and all later ones.
    package func stop() { isOver.withLock { $0 = true } }
  #endif
}
