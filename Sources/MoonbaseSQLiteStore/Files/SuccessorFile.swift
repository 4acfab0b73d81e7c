import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A file beside a store that is to take its place. It goes with this object, unless it has done so.
final class SuccessorFile {
  /// What it is made for.
  enum Purpose: String {
    /// The store is replaced, which may be in use meanwhile.
    case replacement
    /// The store is migrated, and held all the while: copies that the next one finds are nobody's.
    case migration

    var suffix: String { ".\(rawValue)" }
    /// What a process that died has left behind goes after so many seconds.
    fileprivate var leastAge: TimeInterval? { self == .replacement ? 3600 : nil }
  }

  let path: String
  private let purpose: Purpose
  private let store: StoreFile
  private var tookPlace = false

  /// Names a file that is not there yet.
  init(of store: StoreFile, for purpose: Purpose = .replacement) {
    (self.store, self.purpose) = (store, purpose)
    path = "\(store.truePath)-\(UUID.random().uuidString)\(purpose.suffix)"
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

  /// Removes what processes have left that died, with what SQLite keeps beside it.
  func removeOld() {
    let suffixes = ([""] + StoreFile.companions).map { purpose.suffix + $0 }
    let (folder, prefix) = (store.truePath.folderOfPath, URL(fileURLWithPath: store.truePath).lastPathComponent + "-")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(prefix) && suffixes.contains(where: name.hasSuffix) {
      guard let leastAge = purpose.leastAge else {
        unlink("\(folder)/\(name)")
        continue
      }
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0 else { continue }
      let age = Date().timeIntervalSince1970 - TimeInterval(FileIdentity.modification(status).tv_sec)
      if age > leastAge { unlink("\(folder)/\(name)") }
    }
  }
}
