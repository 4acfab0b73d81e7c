internal import MoonbaseCSQLite

/// The storage class of a value in SQLite.
public enum StorageClass: Int32, Sendable {
  /// `SQLITE_INTEGER`.
  case integer = 1
  /// `SQLITE_FLOAT`.
  case real = 2
  /// `SQLITE_TEXT`.
  case text = 3
  /// `SQLITE_BLOB`.
  case blob = 4
  /// `SQLITE_NULL`.
  case null = 5
}
