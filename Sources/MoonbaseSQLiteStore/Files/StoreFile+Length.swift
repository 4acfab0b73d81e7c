import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

extension StoreFile {
  /// Where SQLite keeps its locks: the page with this byte is never written.
  private static let lockedByte = 0x4000_0000

  /// Throws where the file ends before its pages do, and no log has those that it lacks.
  ///
  /// SQLite takes a page that was cut off for one that ends in zeros, and beside a log believes that the file will be as long as the log says. Where
  /// a process writes just now it is looked at again.
  func requireWhole(_ connection: Connection) throws {
    for attempt in 1...3 {
      guard let lack = try missingBytes(connection) else { return }
      guard attempt == 3 else {
        try HostWork.pause(milliseconds: 10)
        continue
      }
      // Where the connection is closed, the log would be taken into the file.
      connection.setLeavesLog(true)
      throw GraphError(
        .invalidStore,
        message:
          "\(path) is truncated: \(lack) byte\(lack == 1 ? "" : "s") at its end \(lack == 1 ? "is" : "are") missing, and no log beside it "
          + "has them; restore it from a backup, or try sqlite3's .recover")
    }
  }

  /// How many bytes are missing; nil for a whole file.
  private func missingBytes(_ connection: Connection) throws -> Int? {
    let pages: (size: Int, count: Int)
    do { pages = try connection.pages() } catch let error as SQLiteError where error.code.primary == .corrupt {
      // Without a log SQLite sees by itself that whole pages are missing, and calls that damage.
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
