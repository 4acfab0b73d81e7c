import MoonbaseFaultyDisk
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// The recorded disk steps, and the files that may be left of them after a power failure: synced data for certain,
/// other data perhaps.
struct LostPower {
  /// A recorded step.
  enum Event {
    case disk(FaultyDisk.Event)
    /// A step with an external file; with its bytes once they are written.
    case file(StatementObserver.FileStep, String, [UInt8])
    /// The number of acknowledged saves.
    case saved(Int)
  }

  /// A file from its making to its deletion.
  private struct Life {
    /// The bytes as of the last sync.
    var durable: [UInt8]?
    /// The steps since the last sync: bytes at an offset, or nil for a truncation.
    var pending: [(offset: Int, bytes: [UInt8]?)] = []
    var isDeleted = false
  }

  private var files: [String: [Life]] = [:]
  private var values: [String: (bytes: [UInt8], isDurable: Bool, isRemoved: Bool)] = [:]
  /// The number of acknowledged saves, and of saves certain to be on the disk.
  private(set) var saved = 0
  private(set) var durable = 0
  private let hasLogs: Bool

  init(hasLogs: Bool) { self.hasLogs = hasLogs }

  mutating func take(_ event: Event) {
    switch event {
    case .disk(let event): take(event)
    case .saved(let number):
      // The deletion of a journal ends a save. The deletion is certain once the folder is synced, for the next journal.
      if !hasLogs { durable = saved }
      saved = number
    case .file(.write, let name, _): values[name] = ([], false, false)
    case .file(.synchronize, let name, let bytes): values[name] = (bytes, values[name]?.isDurable ?? false, false)
    case .file(.synchronizeFolder, _, _):
      for name in values.keys where values[name]?.bytes.isEmpty == false { values[name]?.isDurable = true }
    case .file(.remove, let name, _): values[name]?.isRemoved = true
    case .file(.synchronizeCommit, _, _):
      synchronize("store.sqlite-wal")
      synchronizeFolder()
    }
  }

  private mutating func take(_ event: FaultyDisk.Event) {
    switch event.step {
    case .write: change(event.name, (event.offset, event.bytes))
    case .truncate: change(event.name, (event.offset, nil))
    case .sync: synchronize(event.name)
    case .delete where event.offset == 1: files[event.name] = nil
    case .delete:
      if let last = files[event.name]?.indices.last { files[event.name]?[last].isDeleted = true }
    case .open, .read, .lock, .lockLog, .mapLog: break
    }
  }

  private mutating func change(_ name: String, _ change: (Int, [UInt8]?)) {
    var lives = files[name] ?? []
    if lives.last?.isDeleted ?? true { lives.append(Life()) }
    lives[lives.count - 1].pending.append(change)
    files[name] = lives
  }

  private mutating func synchronize(_ name: String) {
    guard var life = files[name]?.last, !life.isDeleted else { return }
    // With the first sync of a log or journal SQLite syncs the folder.
    if life.durable == nil, name != "store.sqlite" { synchronizeFolder() }
    life.durable = Self.bytes(life.durable ?? [], life.pending)
    life.pending = []
    files[name] = [life]
    if name.hasSuffix("-wal") { durable = saved }
  }

  /// Makes deletions durable.
  private mutating func synchronizeFolder() {
    files = files.compactMapValues { lives in lives.last.flatMap { $0.isDeleted ? nil : [$0] } }
  }

  private static func bytes(_ start: [UInt8], _ changes: [(offset: Int, bytes: [UInt8]?)]) -> [UInt8] {
    var result = start
    for change in changes {
      guard let bytes = change.bytes else {
        result.removeLast(max(0, result.count - change.offset))
        continue
      }
      let missing = change.offset + bytes.count - result.count
      if missing > 0 { result.append(contentsOf: repeatElement(0, count: missing)) }
      result.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[change.offset...]).copyBytes(from: bytes)
      }
    }
    return result
  }

  // MARK: The power goes

  /// Writes the surviving data into a folder.
  func leave(in folder: TemporaryFolder, _ random: inout SplitMix) throws {
    // All, none or a part of the unsynced data survives.
    let share = [0, 10, 50, 90, 100][random.next(5)]
    for name in files.keys.sorted() {
      guard let lives = files[name], !lives.isEmpty else { continue }
      let life = lives[random.next(lives.count)]
      if life.isDeleted || life.durable == nil, random.next(100) >= 50 { continue }
      var kept: [(offset: Int, bytes: [UInt8]?)] = []
      for var change in life.pending where random.next(100) < share {
        // A sector is written completely or not at all.
        if let bytes = change.bytes, random.next(8) == 0 {
          change.bytes = Array(bytes.prefix(random.next(bytes.count / 512 + 1) * 512))
        }
        kept.append(change)
      }
      try Data(Self.bytes(life.durable ?? [], kept)).write(to: folder.file(name))
    }
    try leaveValues(in: folder.file(".store_SUPPORT/_EXTERNAL_DATA"), &random)
  }

  private func leaveValues(in folder: URL, _ random: inout SplitMix) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in values.keys.sorted() {
      guard let value = values[name] else { continue }
      let isWhole = value.isDurable && !value.isRemoved
      if isWhole { try Data(value.bytes).write(to: folder.appendingPathComponent(name)) }
      if isWhole || random.next(2) == 0 { continue }
      let bytes = value.bytes.prefix(random.next(value.bytes.count + 1))
      try Data(bytes).write(to: folder.appendingPathComponent(name))
    }
  }
}
