import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Takes a store away. It is gone with its file; what else there is goes after that, and is nobody's then.
struct StoreRemoval {
  let file: StoreFile

  func run() throws {
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

  private func remove() throws {
    guard unlink(file.truePath) == 0 || errno == ENOENT else {
      throw GraphError(
        .storeFailure, message: "\(file.path) cannot be removed: \(String(cString: strerror(errno)))")
    }
    SupportFolder.synchronize(file.truePath.folderOfPath)
  }

  /// The folder may be that of another store too, whose name differs at its end: then only the values go that this store had.
  private func finish(_ folder: SupportFolder, named: Set<String>) {
    file.removeCompanions()
    if folder.isShared {
      for name in named { folder.remove(name) }
    } else {
      try? FileManager.default.removeItem(atPath: folder.topPath)
    }
  }
}
