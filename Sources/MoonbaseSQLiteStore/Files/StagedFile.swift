import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A file beside a store that is to replace it. It is removed with this object, unless it replaced the store.
///
/// On the same disk as the store, so that replacing it is a rename.
package final class StagedFile {
  /// The purpose of the file.
  package enum Purpose: String {
    /// The store is replaced by a copy, and may be in use meanwhile.
    case replacement
    /// The store is migrated and locked throughout, so files left from earlier runs are not in use.
    case migration

    /// The ending of the file's name.
    var suffix: String { ".\(rawValue)" }
    /// The age in seconds after which a file left by a dead process is removed; nil for any age.
    fileprivate var leastAge: TimeInterval? { self == .replacement ? 3600 : nil }
  }

  /// The path of the file.
  package let path: String
  /// Why the file exists.
  private let purpose: Purpose
  /// The store to replace.
  private let store: StoreFile
  /// Whether the file has replaced the store.
  private var isInPlace = false

  /// Chooses the name of a file that does not exist yet.
  package init(of store: StoreFile, for purpose: Purpose = .replacement) {
    (self.store, self.purpose) = (store, purpose)
    path = "\(store.truePath)-\(UUID.random().uuidString)\(purpose.suffix)"
  }

  deinit {
    guard !isInPlace else { return }
    for suffix in [""] + StoreFile.companions { unlink(path + suffix) }
  }

  /// Replaces the store by this file in one step. Throws `.storeFailure` if the file system refuses; the store is then
  /// unchanged.
  package func moveIntoPlace() throws {
    guard rename(path, store.truePath) == 0 else {
      throw GraphError(.storeFailure, message: "\(store.path) cannot be replaced: \(String(cString: strerror(errno)))")
    }
    isInPlace = true
    SupportFolder.synchronize(store.truePath.folderOfPath)
  }

  /// Removes files that dead processes left, with their companion files. Failures are ignored.
  package func removeOld() {
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
