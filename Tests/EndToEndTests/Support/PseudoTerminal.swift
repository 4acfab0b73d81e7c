import MoonbasePlatform
import MoonbaseTestSupport
import Testing

#if os(Linux)
  /// A terminal with a running program, in which a test presses keys.
  final class PseudoTerminal {
    private let process: ChildProcess
    private let descriptor: Int32
    /// All output of the program.
    private(set) var screen = ""

    // TIOCSPTLCK and TIOCGPTN of Linux.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Starts `moonbase` in a terminal with `columns` columns, as the leader of its own session.
    init(_ arguments: [String], in bench: Workbench, columns: UInt16 = 80, environment: [String: String] = [:]) throws {
      descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var (lock, number) = (Int32(0), UInt32(0))
      try #require(descriptor >= 0 && ioctl(descriptor, Self.setLock, &lock) == 0)
      try #require(ioctl(descriptor, Self.getNumber, &number) == 0)
      let name = "/dev/pts/\(number)"
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
      let other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(other >= 0)
      let state = ["TERM": "xterm", "XDG_STATE_HOME": bench.file("state").path]
      process = try ChildProcess(
        URL(fileURLWithPath: "/usr/bin/env"),
        ["--default-signal=INT", "setsid", "--ctty", "--wait", Workbench.command.path] + arguments, in: bench.folder,
        terminal: FileHandle(fileDescriptor: other, closeOnDealloc: true),
        environment: state.merging(environment) { $1 })
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit {
      // Closing the terminal sends SIGHUP to its session.
      close(descriptor)
    }

    /// Presses keys. A line feed is Enter.
    func press(_ keys: String) { _ = write(descriptor, keys, keys.utf8.count) }

    func press(bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

    /// Presses keys and waits until the program's new output contains a text; fails after a minute.
    func press(_ keys: String, until wanted: String) throws {
      let shown = screen.count
      press(keys)
      try wait(for: wanted, behind: shown)
    }

    func wait(for wanted: String, behind place: Int = 0) throws {
      for _ in 0..<6000 {
        read()
        if screen.dropFirst(place).contains(wanted) { return }
        usleep(10_000)
      }
      throw NotShown(description: "the terminal did not show \(wanted): \(screen.suffix(2000))")
    }

    /// The exit status, within a minute.
    func end() -> Int32? {
      for _ in 0..<6000 where process.isRunning {
        read()
        usleep(10_000)
      }
      read()
      return process.isRunning ? nil : process.outcome().status
    }

    private struct NotShown: Error, CustomStringConvertible {
      let description: String
    }

    private func read() {
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      while case let count = MoonbasePlatform.read(descriptor, &bytes, bytes.count), count > 0 {
        screen += String(decoding: bytes.prefix(count), as: UTF8.self)
      }
    }
  }
#endif
