import MoonbasePlatform

/// What a store tells of the statements that it runs: for a person who wants to know what a fetch or a save asks of the file.
///
/// ```swift
/// var options = SQLiteStoreOptions()
/// options.sqlLog = SQLLog(.values) { print($0) }
/// // 0.21 ms, 2 rows: SELECT t0.Z_PK, … FROM ZPERSON t0 WHERE t0.ZAGE >= 30
/// ```
public struct SQLLog: Sendable, Equatable {
  /// How much is told: `-com.apple.CoreData.SQLDebug` of Core Data.
  public enum Level: Int, Sendable {
    /// Each statement with question marks for its values, the number of its rows and its time.
    case statements = 1
    /// The same with the values of all attributes, whatever they are: nothing that should be seen by others, or kept.
    case values = 2
  }

  /// A statement that has run.
  public struct Entry: Sendable, CustomStringConvertible {
    /// The statement, with values by the level `values`; what is longer than 10,000 bytes is cut off.
    public let sql: String
    /// The statement with question marks for its values, by each level.
    public let statement: String
    /// How many rows it gave; those that it writes do not count.
    public let rowCount: Int
    /// How long it ran. Of rows that are read page by page, the time between two pages counts too.
    public let duration: Duration

    /// What a store tells of a statement.
    package init(sql: String, statement: String, rowCount: Int, duration: Duration) {
      (self.sql, self.statement, self.rowCount, self.duration) = (sql, statement, rowCount, duration)
    }

    /// A line: time, rows, statement.
    public var description: String {
      let rows = rowCount == 1 ? "1 row" : "\(rowCount) rows"
      return "\(String(format: "%.2f", duration / .milliseconds(1))) ms, \(rows): \(sql)"
    }
  }

  /// How much is told.
  public var level: Level
  /// Takes each entry, on the thread that ran the statement, several at once. It must not use the store.
  public var write: @Sendable (Entry) -> Void

  /// What copies have in common.
  private let origin = Origin()
  private final class Origin: Sendable {}

  /// A log.
  public init(_ level: Level = .statements, write: @escaping @Sendable (Entry) -> Void) {
    (self.level, self.write) = (level, write)
  }

  /// Two are equal where one is a copy of the other: what closures do cannot be compared.
  public static func == (one: SQLLog, other: SQLLog) -> Bool { one.level == other.level && one.origin === other.origin }
}
