package import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQLite

/// A new store that is made in a folder beside its destination and moved there in one step when it is complete.
///
/// The folder is removed with this object. The next new store for the same destination removes the folder of a process
/// that died, with the values that it had already moved. A running process holds a lock on its folder.
package final class NewStore: Sendable {
  /// The ending of the folder's name.
  private static let suffix = ".copy"

  /// The place of the finished store.
  private let destination: StoreFile
  /// The file of the store while it is made.
  private let made: StoreFile
  /// The path of the folder.
  private let workshop: String
  /// An open descriptor of the folder, whose lock shows that the process lives.
  private let descriptor: Int32
  /// Whether the store was moved or given up.
  private let isOver = Lock(false)

  /// The location of the store while it is made.
  package var url: URL { made.url }

  /// Makes the folder. Throws if the destination file exists, or the folder cannot be made. Throws `.invalidRequest`
  /// for an existing file, `.cannotOpenFile` for a place that cannot be written.
  package init(at place: URL, busyTimeout: Duration? = nil) throws {
    destination = StoreFile(url: place, busyTimeout: busyTimeout)
    try destination.requireClosed(participle: "replaced")
    try Self.removeLeft(beside: destination)
    guard try destination.state() == .absent else { throw Self.isThere(destination) }
    try destination.checkPlace()
    workshop = "\(destination.truePath)-\(UUID.random().uuidString)\(Self.suffix)"
    guard mkdir(workshop, 0o755) == 0 else { throw Self.refusal(destination) }
    descriptor = open(workshop, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    made = StoreFile(
      url: URL(fileURLWithPath: "\(workshop)/\(destination.truePath.lastPartOfPath)"), busyTimeout: busyTimeout)
  }

  deinit { discard() }

  /// Removes the unfinished store, unless it was moved to its destination. Another thread may call this. Called by
  /// `deinit` as well; later calls do nothing.
  package func discard() {
    isOver.withLock { isOver in
      guard !isOver else { return }
      isOver = true
      // Another thread may still be creating files there.
      for _ in 0..<50 where access(workshop, F_OK) == 0 {
        if (try? FileManager.default.removeItem(atPath: workshop)) == nil { usleep(10_000) }
      }
      close(descriptor)
    }
  }

  /// Moves the complete, closed store to its destination. Throws `.invalidRequest` if a file appeared at the
  /// destination meanwhile, and `CancellationError` after `discard`. After an error nothing is at the destination.
  package func moveIntoPlace() throws {
    try made.requireClosed(participle: "moved")
    try isOver.withLock { isOver in
      guard !isOver else { throw CancellationError() }
      let names = try made.alone(OrphanSweep.namedFiles).sorted()
      let folder = SupportFolder(store: destination.truePath)
      SupportFolder.synchronize(made.truePath)
      do {
        try folder.move(names, from: SupportFolder(store: made.truePath))
        try appear()
      } catch {
        names.forEach(folder.remove)
        folder.removeIfEmpty()
        throw error
      }
      isOver = true
      try? FileManager.default.removeItem(atPath: workshop)
      close(descriptor)
    }
  }

  /// The error with the store's destination in its message. Errors while the store is made would otherwise name a
  /// temporary path.
  package func named(_ error: GraphError) -> GraphError {
    var error = error
    error.message = error.message.replacing(made.path, with: destination.path)
    return error
  }

  /// Renames the complete file to its destination. Throws if a file appeared there meanwhile.
  private func appear() throws {
    guard try destination.state() == .absent else { throw Self.isThere(destination) }
    // A log without a store would be taken for the new store's log.
    destination.removeCompanions()
    guard rename(made.truePath, destination.truePath) == 0 else { throw Self.refusal(destination) }
    SupportFolder.synchronize(destination.truePath.folderOfPath)
  }

  /// The error of an existing destination.
  private static func isThere(_ file: StoreFile) -> GraphError {
    GraphError(.invalidRequest, message: "\(file.path) is there already: name another file")
  }

  /// The error of a system call that failed.
  private static func refusal(_ file: StoreFile) -> GraphError {
    GraphError(.cannotOpenFile, message: "\(file.path) cannot be made: \(String(cString: strerror(errno)))")
  }

  // MARK: Files that others left

  /// Removes the folders of processes that died, with the values that they had moved.
  private static func removeLeft(beside file: StoreFile) throws {
    let folder = file.truePath.folderOfPath
    let prefix = file.truePath.lastPartOfPath + "-"
    let length = prefix.utf8.count + UUID().uuidString.utf8.count + suffix.utf8.count
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(suffix) && name.utf8.count == length {
      let left = open("\(folder)/\(name)", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard left >= 0 else { continue }
      defer { close(left) }
      guard flock(left, LOCK_EX | LOCK_NB) == 0 else { continue }
      // If the store was moved, its values are in use.
      if try file.state() == .absent {
        removeValues(of: "\(folder)/\(name)/\(file.truePath.lastPartOfPath)", movedTo: file)
      }
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  /// Removes the values that an unfinished store had moved.
  private static func removeValues(of path: String, movedTo file: StoreFile) {
    let folder = SupportFolder(store: file.truePath)
    let left = StoreFile(url: URL(fileURLWithPath: path))
    // An incomplete store has moved no values.
    for name in (try? left.reading(OrphanSweep.namedFiles)) ?? [] { folder.remove(name) }
    folder.removeIfEmpty()
  }
}
