import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
package import MoonbaseSQLite

/// A copy of a store that replaces the store, if any, at another place.
///
/// First the copy is completed on disk, with its external values under names that no other store uses. Then its file
/// replaces the old one in one step: at any time there is either the old or the complete new store.
///
/// Used by backups, copies and replacement of stores. An instance makes one copy; after a failure its `deinit` removes
/// everything that was written.
package final class StoreReplacement {
  /// The store to copy.
  private let source: StoreFile
  /// The place of the copy.
  private let destination: StoreFile
  /// The folder of external values at the destination.
  private let folder: SupportFolder
  /// The copy until it has its final name.
  private let successor: StagedFile
  /// Whether an existing store may be replaced.
  private let replaces: Bool
  /// Fills the copy from a connection that reads one state of the store.
  private let fill: (_ source: Connection, _ copy: String) throws -> Void
  /// Whether the copy is no longer wanted; evaluated while the copy is checked.
  private let isEnded: () -> Bool
  /// The value files that the copy names, and those of them that did not exist before.
  private var named: Set<String> = []
  /// Removed again after a failure.
  private var written: [String] = []
  /// Whether the copy is at its destination.
  private var isDone = false

  /// `fill` makes the copy; by default it is compacted.
  package init(
    source: StoreFile, destination: StoreFile, replaces: Bool = true,
    isEnded: @escaping () -> Bool = { false },
    fill: @escaping (_ source: Connection, _ copy: String) throws -> Void = StoreReplacement.vacuum
  ) {
    (self.source, self.destination, self.replaces, self.fill) = (source, destination, replaces, fill)
    self.isEnded = isEnded
    folder = SupportFolder(store: destination.truePath)
    successor = StagedFile(of: destination)
  }

  /// Gives up a replacement that was not completed.
  deinit {
    guard !isDone else { return }
    for name in written { folder.remove(name) }
    folder.removeIfEmpty()
  }

  /// Makes the copy and moves it to its destination. Throws `.invalidRequest` for an existing destination that must not
  /// be replaced, `.invalidStore` for a damaged source, and the errors of files.
  package func run() throws {
    // Checks the existing file before anything is written.
    try destination.settled {
      let state = try destination.state()
      if state != .absent, !replaces { throw isThere }
      guard state == .present else { return }
      try destination.reading { _ = try StoreMetadata($0, path: destination.path) }
    }
    try destination.checkPlace()
    successor.removeOld()
    try write()
    try destination.settled { try moveIntoPlace() }
    isDone = true
  }

  /// Copies rows and then their value files; repeats this if a save meanwhile removed a value. After three attempts the
  /// error is thrown.
  private func write() throws {
    var attempt = 0
    while true {
      attempt += 1
      try source.settled {
        try source.requirePresent()
        try source.reading { connection in
          try StoreMetadata(connection, path: source.path).checkIdentifier(source.path)
          unlink(successor.path)
          try fill(connection, successor.path)
        }
      }
      SupportFolder.synchronize(successor.path)
      try CopyCheck(source: source, isEnded: isEnded).run(onCopyAt: successor.path)
      do {
        // The copy's header may require a log, which must not remain under this name.
        named = try StoreFile(url: URL(fileURLWithPath: successor.path)).reading(OrphanSweep.namedFiles)
        return try copyValues()
      } catch let error where attempt < 3 && !(error is CancellationError) {
        try HostWork.pause(milliseconds: 20)
      }
    }
  }

  /// Makes a copy without free pages, in rollback mode. Indexes and free pages are written anew.
  static func vacuum(_ source: Connection, into copy: String) throws {
    let statement = try source.statement("VACUUM INTO ?")
    statement.bind(copy, at: 1)
    try statement.run()
  }

  /// Copies the value files that the copy names, unless both stores have the same folder.
  private func copyValues() throws {
    let values = SupportFolder(store: source.truePath)
    guard values.topPath != folder.topPath, !named.isEmpty else { return }
    for name in named.sorted() {
      try HostWork.charge()
      let value = try values.read(name)
      // A name always stands for the same value; a shorter file was left by a process that died.
      if let there = try? folder.read(name), there == value { continue }
      folder.remove(name)
      written.append(name)
      try folder.write(value, to: name)
    }
    try folder.synchronize()
  }

  /// Moves the copy to its destination. A replaced store's values are removed unless its folder is shared.
  private func moveIntoPlace() throws {
    guard try destination.state() == .present else {
      // Companion files without a store would be taken for the new store's.
      destination.removeCompanions()
      return try replaces ? successor.moveIntoPlace() : appear()
    }
    let former = try destination.alone { connection in
      let former = try OrphanSweep.namedFiles(connection)
      try successor.moveIntoPlace()
      return former
    }
    guard !folder.isShared else { return }
    for name in former.subtracting(named) { folder.remove(name) }
  }

  /// The error of an existing destination.
  private var isThere: GraphError {
    GraphError(
      .invalidRequest,
      message:
        "\(destination.path) is there already: name another file, or let a store be replaced (--force)")
  }

  /// Gives the copy its final name atomically if no file has that name. The temporary name is removed with `successor`.
  private func appear() throws {
    guard link(successor.path, destination.truePath) != 0 else {
      SupportFolder.synchronize(destination.truePath.folderOfPath)
      return
    }
    if errno == EEXIST { throw isThere }
    // The file system does not support hard links.
    guard access(destination.truePath, F_OK) != 0 else { throw isThere }
    try successor.moveIntoPlace()
  }
}
