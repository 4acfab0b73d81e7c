import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A file beside a store that is to take its place. It goes with this object, unless it has done so.
final class SuccessorFile {
  private static let suffix = ".replacement"
  /// What a process that died has left behind goes after so many seconds.
  private static let leastAge: TimeInterval = 3600

  let path: String
  private let store: StoreFile
  private var tookPlace = false

  /// Names a file that is not there yet.
  init(of store: StoreFile) {
    self.store = store
    path = "\(store.truePath)-\(UUID.random().uuidString)\(Self.suffix)"
  }

  deinit {
    guard !tookPlace else { return }
    for suffix in [""] + StoreFile.companions { unlink(path + suffix) }
  }

  /// In one step: before it there is the old store, after it this one.
  func takePlace() throws {
    guard rename(path, store.truePath) == 0 else {
      throw GraphError(.storeFailure, message: "\(store.path) cannot be replaced: \(String(cString: strerror(errno)))")
    }
    tookPlace = true
    SupportFolder.synchronize(store.truePath.folderOfPath)
  }

  /// Removes what processes have left that died.
  func removeOld() {
    let (folder, prefix) = (store.truePath.folderOfPath, URL(fileURLWithPath: store.truePath).lastPathComponent + "-")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(Self.suffix) {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
      let age = Date().timeIntervalSince1970 - TimeInterval(FileIdentity.modification(status).tv_sec)
      if age > Self.leastAge { unlink("\(folder)/\(name)") }
    }
  }
}
