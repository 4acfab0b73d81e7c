internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// What SQLite refused, with the statement concerned.
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// An extended result code of SQLite.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int32
    /// Makes a code from its number.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// The code without its details, for example `.constraint` for a violated unique index.
    public var primary: Code { Code(rawValue: rawValue & 0xff) }
  }

  /// The extended result code.
  public var code: Code
  /// SQLite's own words.
  public var message: String
  /// The statement, where there was one.
  public var sql: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  init(connection: OpaquePointer?, code: Int32, sql: String? = nil) {
    let words = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    self.init(Code(rawValue: code), words.map { String(cString: $0) } ?? "SQLite error \(code)", sql: sql)
  }

  /// The words, the code and the statement.
  public var description: String {
    "SQLite: \(message) (\(code.rawValue))" + (sql.map { " in: \($0)" } ?? "")
  }
}

extension SQLiteError.Code {
  /// Another connection holds the lock (`SQLITE_BUSY`).
  public static let busy = Self(rawValue: SQLITE_BUSY)
  /// Another statement of a shared cache holds the lock (`SQLITE_LOCKED`).
  public static let locked = Self(rawValue: SQLITE_LOCKED)
  /// The database cannot be written (`SQLITE_READONLY`).
  public static let readOnly = Self(rawValue: SQLITE_READONLY)
  /// The file is no database (`SQLITE_NOTADB`).
  public static let notADatabase = Self(rawValue: SQLITE_NOTADB)
  /// The file cannot be opened (`SQLITE_CANTOPEN`).
  public static let cannotOpen = Self(rawValue: SQLITE_CANTOPEN)
  /// A constraint is violated (`SQLITE_CONSTRAINT`).
  public static let constraint = Self(rawValue: SQLITE_CONSTRAINT)
  /// A unique index is violated.
  public static let uniqueConstraint = Self(rawValue: SQLITE_CONSTRAINT | (8 << 8))
  /// A primary key is taken.
  public static let primaryKeyConstraint = Self(rawValue: SQLITE_CONSTRAINT | (6 << 8))
  /// The statement was interrupted (`SQLITE_INTERRUPT`).
  public static let interrupted = Self(rawValue: SQLITE_INTERRUPT)
}
