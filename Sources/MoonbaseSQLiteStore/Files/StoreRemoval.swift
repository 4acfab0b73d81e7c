import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Removes a store. The store is gone once its file is removed. Companion files and values are removed afterwards.
///
/// Programs that have the file open keep working on the unlinked file; the caller makes sure that no such process
/// exists (`StoreFile.alone`).
package struct StoreRemoval {
  /// The file to remove.
  let file: StoreFile

  /// Removes the store in a file.
  package init(file: StoreFile) { self.file = file }

  /// Removes the store with its companion files and values. Does nothing for a missing file but removes what is left of
  /// the store. Throws `.storeFailure` if the file cannot be removed.
  package func run() throws {
    let folder = SupportFolder(store: file.truePath)
    switch try file.state() {
    case .present:
      let named = try file.alone { connection in
        let named = folder.isShared ? try OrphanSweep.namedFiles(connection) : []
        try remove()
        return named
      }
      finish(folder, named: named)
    case .empty:
      try remove()
      finish(folder, named: [])
    case .absent: finish(folder, named: [])
    }
  }

  /// Unlinks the file and makes this durable.
  private func remove() throws {
    guard unlink(file.truePath) == 0 || errno == ENOENT else {
      throw GraphError(
        .storeFailure, message: "\(file.path) cannot be removed: \(String(cString: strerror(errno)))")
    }
    SupportFolder.synchronize(file.truePath.folderOfPath)
  }

  /// Removes companion files and values. If another store may share the folder, only this store's values are removed.
  private func finish(_ folder: SupportFolder, named: Set<String>) {
    file.removeCompanions()
    if folder.isShared {
      for name in named { folder.remove(name) }
    } else {
      try? FileManager.default.removeItem(atPath: folder.topPath)
    }
  }
}
