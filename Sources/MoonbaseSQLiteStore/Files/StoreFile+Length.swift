import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
package import MoonbaseSQLite

/// The check of a file's length when it is opened.
extension StoreFile {
  /// The byte that SQLite uses for locks: the page with this byte is never written.
  private static let lockedByte = 0x4000_0000

  /// Throws if the file is shorter than its pages, and the log does not have the missing ones.
  ///
  /// SQLite reads a truncated page as ending in zeros, and with a log trusts the length that the log states. Because
  /// another process may be writing, the check is repeated.
  ///
  /// Throws `.invalidStore` with the number of missing bytes. The page with SQLite's lock byte is allowed to be
  /// missing.
  package func requireWhole(_ connection: Connection) throws {
    for attempt in 1...3 {
      guard let lack = try missingBytes(connection) else { return }
      guard attempt == 3 else {
        try HostWork.pause(milliseconds: 10)
        continue
      }
      // Otherwise closing the connection would copy the log into the file.
      connection.setLeavesLog(true)
      throw GraphError(
        .invalidStore,
        message:
          "\(path) is truncated: \(lack) byte\(lack == 1 ? "" : "s") at its end \(lack == 1 ? "is" : "are") missing, and no log beside it "
          + "has them; restore it from a backup, or try sqlite3's .recover")
    }
  }

  /// The number of missing bytes; nil for a complete file. Compares the length with the header's page count and the
  /// pages in the log.
  private func missingBytes(_ connection: Connection) throws -> Int? {
    let pages: (size: Int, count: Int)
    do { pages = try connection.pages() } catch let error as SQLiteError where error.code.primary == .corrupt {
      // Without a log, SQLite itself notices missing pages and reports damage.
      guard let stated = connection.statedPages, let bytes = size(""), bytes < stated.count * stated.size else {
        throw error
      }
      return stated.count * stated.size - bytes
    }
    guard let bytes = size(""), pages.size > 0, bytes < pages.count * pages.size else { return nil }
    let written = WriteAheadLog(of: self)?.committedPages() ?? []
    let locked = Self.lockedByte / pages.size + 1
    let missing = (bytes / pages.size + 1)...pages.count
    let isHeld =
      missing.count <= written.count + 1
      && missing.allSatisfy { page in
        page == locked || written.contains(UInt32(clamping: page))
      }
    return isHeld ? nil : pages.count * pages.size - bytes
  }
}
