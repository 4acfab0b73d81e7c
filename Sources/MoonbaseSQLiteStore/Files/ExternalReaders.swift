import MoonbasePlatform

/// The reads in this process of store states whose rows may name files that newer rows do not name. These files are
/// removed when the last of these reads has ended.
///
/// Several stores may have the same file, so reads are recorded by folder.
///
/// A read takes a number when it begins; an abandoned file waits until all reads with smaller or equal numbers have
/// ended. This concerns reads of this process only.
enum ExternalReaders {
  /// The reads in progress for one folder, by number.
  private struct Folder {
    /// The number given last.
    var last: UInt64 = 0
    /// The numbers of the reads in progress.
    var open: Set<UInt64> = []
    /// Files that can be removed when all reads that began before have ended.
    var waiting: [(name: String, last: UInt64)] = []
  }

  /// The folders with reads in progress or waiting files, by path.
  private static let folders = Lock<[String: Folder]>([:])

  /// Begins a read; returns the number to end it.
  static func begin(in folder: SupportFolder) -> UInt64 {
    folders.withLock { folders in
      folders[folder.topPath, default: Folder()].last += 1
      let number = folders[folder.topPath]?.last ?? 0
      folders[folder.topPath]?.open.insert(number)
      return number
    }
  }

  /// Ends a read, and removes files that no remaining read needs. Files that snapshots use stay until these end
  /// (`ExternalFile.abandon`).
  static func end(_ number: UInt64, in folder: SupportFolder) {
    let names: [String] = folders.withLock { folders in
      guard var known = folders[folder.topPath] else { return [] }
      known.open.remove(number)
      let oldest = known.open.min() ?? .max
      let names = known.waiting.filter { $0.last < oldest }.map(\.name)
      if !names.isEmpty { known.waiting.removeAll { $0.last < oldest } }
      // Numbers restart only when none is in use.
      folders[folder.topPath] = known.open.isEmpty && known.waiting.isEmpty ? nil : known
      return names
    }
    for name in names { ExternalFile.abandon(name, in: folder) }
  }

  /// Removes files that rows no longer name, as soon as no read in progress can need them.
  static func abandon(_ names: [String], in folder: SupportFolder) {
    let isRead = folders.withLock { folders in
      guard let known = folders[folder.topPath], !known.open.isEmpty else { return false }
      folders[folder.topPath]?.waiting += names.map { ($0, known.last) }
      return true
    }
    if !isRead { for name in names { ExternalFile.abandon(name, in: folder) } }
  }

  /// The files that wait for reads to end.
  static func waiting(in folder: SupportFolder) -> Set<String> {
    folders.withLock { Set($0[folder.topPath]?.waiting.map(\.name) ?? []) }
  }
}
