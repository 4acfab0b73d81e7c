import MoonbaseGraph
import MoonbasePlatform

/// A file with a value that a snapshot names. As long as one does, in this process, a save that lets go of the value leaves the file.
final class ExternalFile: Sendable {
  private struct Use {
    var count = 0
    var isAbandoned = false
  }

  /// The files that snapshots name, by path.
  private static let uses = Lock<[String: Use]>([:])

  private let name: String
  private let folder: SupportFolder
  /// The bytes, once they were asked for.
  private let contents = Lock<Data?>(nil)

  init(name: String, folder: SupportFolder) {
    self.name = name
    self.folder = folder
    Self.uses.withLock { $0[folder.path(name), default: Use()].count += 1 }
  }

  func bytes() throws -> Data {
    if let known = contents.withLock({ $0 }) { return known }
    let bytes = try folder.read(name)
    contents.withLock { $0 = bytes }
    return bytes
  }

  /// The snapshot is gone. The last one takes a file with it that the rows do not name any more.
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

  /// The rows do not name a file any more: it goes, at once or with the last snapshot that names it.
  static func abandon(_ name: String, in folder: SupportFolder) {
    let isUsed = uses.withLock { uses in
      uses[folder.path(name)]?.isAbandoned = true
      return uses[folder.path(name)] != nil
    }
    if !isUsed { folder.remove(name) }
  }

  static func isUsed(_ name: String, in folder: SupportFolder) -> Bool {
    uses.withLock { $0[folder.path(name)] != nil }
  }
}
