import MoonbaseCSQLite
import MoonbasePlatform

/// An open database of SQLite, closed when its connection and all statements are released.
///
/// `sqlite3_close_v2` keeps the file open as long as a statement exists.
///
/// Statements hold a reference, so that a statement that outlives its connection can still be finished.
final class DatabaseHandle: @unchecked Sendable {  // `raw` is confined as the connection is
  /// SQLite's pointer.
  let raw: OpaquePointer
  /// Called when the file is closed.
  let onClose = Lock<(@Sendable () -> Void)?>(nil)

  /// Takes ownership of an opened database.
  init(_ raw: OpaquePointer) { self.raw = raw }

  deinit {
    sqlite3_close_v2(raw)
    onClose.withLock { $0 }?()
  }
}
