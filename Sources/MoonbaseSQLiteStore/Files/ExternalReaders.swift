import MoonbasePlatform

/// Who in this process reads a state of a store whose rows may name files that newer rows do not: such files go when the last of these
/// has ended.
///
/// Several stores may be of one file, so that this is known by the folder of its values.
enum ExternalReaders {
  private struct Folder {
    var last: UInt64 = 0
    var open: Set<UInt64> = []
    /// Files that nobody needs any more once those who had begun by then have ended.
    var waiting: [(name: String, last: UInt64)] = []
  }

  private static let folders = Lock<[String: Folder]>([:])

  /// Somebody is about to read: a number to end it by.
  static func begin(in folder: SupportFolder) -> UInt64 {
    folders.withLock { folders in
      folders[folder.topPath, default: Folder()].last += 1
      let number = folders[folder.topPath]?.last ?? 0
      folders[folder.topPath]?.open.insert(number)
      return number
    }
  }

  /// What was read is over. The files go that waited for it.
  static func end(_ number: UInt64, in folder: SupportFolder) {
    let names: [String] = folders.withLock { folders in
      guard var known = folders[folder.topPath] else { return [] }
      known.open.remove(number)
      let oldest = known.open.min() ?? .max
      let names = known.waiting.filter { $0.last < oldest }.map(\.name)
      if !names.isEmpty { known.waiting.removeAll { $0.last < oldest } }
      // Numbers begin anew only where nobody has one.
      folders[folder.topPath] = known.open.isEmpty && known.waiting.isEmpty ? nil : known
      return names
    }
    for name in names { ExternalFile.abandon(name, in: folder) }
  }

  /// The rows do not name files any more. Those go at once for which nobody could still ask.
  static func abandon(_ names: [String], in folder: SupportFolder) {
    let isRead = folders.withLock { folders in
      guard let known = folders[folder.topPath], !known.open.isEmpty else { return false }
      folders[folder.topPath]?.waiting += names.map { ($0, known.last) }
      return true
    }
    if !isRead { for name in names { ExternalFile.abandon(name, in: folder) } }
  }

  /// The files that wait.
  static func waiting(in folder: SupportFolder) -> Set<String> {
    folders.withLock { Set($0[folder.topPath]?.waiting.map(\.name) ?? []) }
  }
}
