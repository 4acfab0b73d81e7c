import MoonbaseFaultyDisk
import MoonbasePlatform
import MoonbaseTestSupport

/// A folder whose files SQLite cannot rely on: what it asks of the disk fails when told to, and can be noted.
///
/// It lives as long as the process, as SQLite's files in the folder may.
final class FaultyDisk: Sendable {
  typealias Step = FaultyDiskStep

  /// One thing that SQLite asked of the disk.
  struct Event: Sendable {
    let step: Step
    /// The end of the file's name, such as `store.sqlite-wal`.
    let name: String
    /// Where the bytes go, or the size that a file is cut to.
    let offset: Int
    let bytes: [UInt8]
  }

  fileprivate struct Fault {
    let step: Step
    /// So many steps of this kind still go well.
    var rest: Int
    let code: Int32
    /// Whether all that follow fail too.
    let lasts: Bool
    var failures = 0
  }

  fileprivate struct State {
    var fault: Fault?
    var listener: (@Sendable (Event) -> Void)?
  }

  private let state = Lock(State())

  /// Without `hasLogs` files there cannot have a write-ahead log.
  init(_ folder: TemporaryFolder, hasLogs: Bool = true) throws {
    let body: FaultyDiskBody = { context, step, path, offset, bytes, count in
      let disk = Unmanaged<FaultyDisk>.fromOpaque(context).takeUnretainedValue()
      return disk.answer(
        step, path, Int(offset), UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
    }
    let context = Unmanaged.passRetained(self).toOpaque()
    guard faulty_disk_install(folder.url.path, hasLogs ? 1 : 0, body, context) == 0 else {
      throw DiskFailure()
    }
  }

  struct DiskFailure: Error {}

  /// The step of a kind that comes after so many others fails with SQLite's code, and with `lasting` all that follow.
  func fail(_ step: Step, after rest: Int, code: Int32, lasting: Bool = false) {
    state.withLock { $0.fault = Fault(step: step, rest: rest, code: code, lasts: lasting) }
  }

  /// From now on all goes well. Returns how many steps failed.
  @discardableResult
  func heal() -> Int {
    state.withLock { state in
      defer { state.fault = nil }
      return state.fault?.failures ?? 0
    }
  }

  /// Tells each step that is taken.
  func listen(_ listener: (@Sendable (Event) -> Void)?) { state.withLock { $0.listener = listener } }

  private func answer(_ step: Step, _ path: UnsafePointer<CChar>, _ offset: Int, _ bytes: UnsafeRawBufferPointer)
    -> Int32
  {
    let (code, listener) = state.withLock { ($0.outcome(of: step), $0.listener) }
    if code == 0, let listener {
      let name = String(cString: path).split(separator: "/").last.map(String.init) ?? ""
      listener(Event(step: step, name: name, offset: offset, bytes: Array(bytes)))
    }
    return code
  }
}

extension FaultyDisk.State {
  fileprivate mutating func outcome(of step: FaultyDisk.Step) -> Int32 {
    guard var fault, fault.step == step else { return 0 }
    defer { self.fault = fault }
    fault.rest -= 1
    guard fault.rest < 0, fault.lasts || fault.failures == 0 else { return 0 }
    fault.failures += 1
    return fault.code
  }
}
