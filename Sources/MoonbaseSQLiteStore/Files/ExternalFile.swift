import MoonbaseGraph
import MoonbasePlatform

/// A file with a value that a snapshot uses. While any snapshot in this process uses the file, saves that drop the
/// value keep the file.
///
/// The value of an old snapshot must stay readable although a newer save replaced it. Files of other processes have no
/// such protection: their readers get an error that advises to refresh.
final class ExternalFile: Sendable {
  /// The use of a file by snapshots.
  private struct Use {
    /// The snapshots that use the file.
    var count = 0
    /// Whether rows no longer name the file.
    var isAbandoned = false
  }

  /// The files that snapshots use, by path.
  private static let uses = Lock<[String: Use]>([:])

  /// The name of the file, a UUID.
  private let name: String
  /// The folder of the file.
  private let folder: SupportFolder
  /// The bytes, after the first access.
  private let contents = Lock<Data?>(nil)

  /// Begins a use. Each instance must call `leave()` once.
  init(name: String, folder: SupportFolder) {
    self.name = name
    self.folder = folder
    Self.uses.withLock { $0[folder.path(name), default: Use()].count += 1 }
  }

  /// Reads the file at the first access. Throws `.storeFailure` if the file is missing or cannot be read.
  func bytes() throws -> Data {
    if let known = contents.withLock({ $0 }) { return known }
    let bytes = try folder.read(name)
    contents.withLock { $0 = bytes }
    return bytes
  }

  /// Ends the use by a snapshot. The last snapshot removes the file if rows no longer name it.
  func leave() {
    let path = folder.path(name)
    let isLast = Self.uses.withLock { uses in
      uses[path]?.count -= 1
      guard let use = uses[path], use.count == 0 else { return false }
      uses[path] = nil
      return use.isAbandoned
    }
    if isLast { folder.remove(name) }
  }

  /// Removes a file that rows no longer name, immediately or when the last snapshot ends its use.
  static func abandon(_ name: String, in folder: SupportFolder) {
    let isUsed = uses.withLock { uses in
      uses[folder.path(name)]?.isAbandoned = true
      return uses[folder.path(name)] != nil
    }
    if !isUsed { folder.remove(name) }
  }

  /// Whether any snapshot in this process uses the file.
  static func isUsed(_ name: String, in folder: SupportFolder) -> Bool {
    uses.withLock { $0[folder.path(name)] != nil }
  }
}
