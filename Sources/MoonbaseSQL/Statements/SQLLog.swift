import MoonbasePlatform

/// A log of the statements that a store runs, which shows how a fetch or a save uses the file.
///
/// ```swift
/// var options = SQLiteStoreOptions()
/// options.sqlLog = SQLLog(.values) { print($0) }
/// // 0.21 ms, 2 rows: SELECT t0.Z_PK, … FROM ZPERSON t0 WHERE t0.ZAGE >= 30
/// ```
///
/// Set in `PersistentStoreDescription.sqlLog` or in the options of a store. Without a log nothing is recorded and
/// statements run at full speed.
public struct SQLLog: Sendable, Equatable {
  /// The detail of the log: `-com.apple.CoreData.SQLDebug` of Core Data.
  public enum Level: Int, Sendable {
    /// Each statement with question marks for its values, the number of its rows and its duration.
    case statements = 1
    /// In addition the values of all attributes, which may be confidential.
    case values = 2
  }

  /// A statement that has run.
  public struct Entry: Sendable, CustomStringConvertible {
    /// The statement, with values at the level `values`, cut off after 10,000 bytes.
    public let sql: String
    /// The statement with question marks for its values, at both levels.
    public let statement: String
    /// The number of rows that the statement returned. Written rows do not count.
    public let rowCount: Int
    /// The duration of the statement. For rows that are read page by page, it includes the time between two pages.
    public let duration: Duration

    /// Makes an entry.
    package init(sql: String, statement: String, rowCount: Int, duration: Duration) {
      (self.sql, self.statement, self.rowCount, self.duration) = (sql, statement, rowCount, duration)
    }

    /// The entry as a line: duration, rows, statement.
    public var description: String {
      let rows = rowCount == 1 ? "1 row" : "\(rowCount) rows"
      return "\(String(format: "%.2f", duration / .milliseconds(1))) ms, \(rows): \(sql)"
    }
  }

  /// The detail of the log.
  public var level: Level
  /// Receives each entry on the thread that ran the statement, possibly several at once. It must not use the store.
  public var write: @Sendable (Entry) -> Void

  /// The identity of the log, for comparison. All copies of a log share it.
  private let origin = Origin()
  private final class Origin: Sendable {}

  /// Makes a log.
  public init(_ level: Level = .statements, write: @escaping @Sendable (Entry) -> Void) {
    (self.level, self.write) = (level, write)
  }

  /// Two logs are equal where one is a copy of the other, because closures cannot be compared.
  public static func == (one: SQLLog, other: SQLLog) -> Bool { one.level == other.level && one.origin === other.origin }
}
