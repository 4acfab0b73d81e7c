import MoonbaseFaultyDisk
import MoonbasePlatform
import MoonbaseTestSupport

/// A folder with an unreliable disk: SQLite's file operations there can be recorded and made to fail.
///
/// An instance lives as long as the process, since SQLite may keep files in the folder open.
final class FaultyDisk: Sendable {
  typealias Step = FaultyDiskStep

  /// A file operation of SQLite.
  struct Event: Sendable {
    let step: Step
    /// The end of the file's name, such as `store.sqlite-wal`.
    let name: String
    /// The position of the bytes, or the size of a truncated file.
    let offset: Int
    let bytes: [UInt8]
  }

  fileprivate struct Fault {
    let step: Step
    /// The number of steps of this kind that still succeed.
    var rest: Int
    let code: Int32
    /// Whether all later steps fail too.
    let lasts: Bool
    var failures = 0
  }

  fileprivate struct State {
    var fault: Fault?
    var listener: (@Sendable (Event) -> Void)?
  }

  private let state = Lock(State())

  /// Without `hasLogs`, files in the folder cannot have a write-ahead log.
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

  /// Makes the step after `rest` steps of a kind fail with a code of SQLite; with `lasting` all later steps of that
  /// kind too.
  func fail(_ step: Step, after rest: Int, code: Int32, lasting: Bool = false) {
    state.withLock { $0.fault = Fault(step: step, rest: rest, code: code, lasts: lasting) }
  }

  /// Ends all faults. Returns the number of failed steps.
  @discardableResult
  func heal() -> Int {
    state.withLock { state in
      defer { state.fault = nil }
      return state.fault?.failures ?? 0
    }
  }

  /// Sets the closure that receives each step.
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
