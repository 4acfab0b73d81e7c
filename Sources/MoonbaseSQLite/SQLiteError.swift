internal import MoonbaseCSQLite
public import MoonbasePlatform

/// An error of SQLite, with the statement concerned.
///
/// ```swift
/// do {
///   try connection.execute("DELETE FROM person")
/// } catch let error as SQLiteError where error.code.primary == .busy {
///   print("another process writes; try again")
/// }
/// ```
public struct SQLiteError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
  /// An extended result code of SQLite.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int32
    /// A code from its number.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// The primary code without details, for example `.constraint` for a violated unique index.
    public var primary: Code { Code(rawValue: rawValue & 0xff) }
  }

  /// The extended result code.
  public var code: Code
  /// SQLite's message.
  public var message: String
  /// The statement; nil if the error concerns none.
  public var sql: String?
  /// The operating system's message for a failed system call; nil for other errors.
  public var systemReason: String?

  /// An error with a code and a message.
  public init(_ code: Code, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The error of a connection's last call. Without a connection the message is SQLite's general one for the code.
  init(connection: OpaquePointer?, code: Int32, sql: String? = nil) {
    let words = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    self.init(Code(rawValue: code), message: words.map { String(cString: $0) } ?? "SQLite error \(code)", sql: sql)
    // The number may be left from an earlier system call, so it is used only for failures of files.
    guard let connection, [.inputOutput, .cannotOpen, .full].contains(self.code.primary) else { return }
    let known = sqlite3_system_errno(connection)
    // SQLite keeps no number for a failure at the end of a statement; `errno` is used if it can be the reason.
    let number = known != 0 ? known : Self.reasons.contains(errno) ? errno : 0
    if number != 0 { systemReason = String(cString: strerror(number)) }
  }

  /// Reasons that concern the file or the disk.
  private static let reasons: Set<Int32> = [ENOSPC, EFBIG, EDQUOT, EIO, EROFS, EMFILE, ENFILE]

  /// Whether a statement exceeded a limit of SQLite (too long, too deep, too many parts), so that a smaller one could
  /// succeed. SQLite has messages instead of codes for most limits. A build without JSON also counts as limited.
  public var isLimit: Bool {
    if code.primary == .tooBig { return true }
    return code.rawValue == SQLITE_ERROR && Self.limits.contains { message.contains($0) }
  }

  /// Parts of SQLite's messages.
  private static let limits = [
    "too many", "too large", "too long", "too deep", "at most", "stack overflow", "no such table: json_each",
  ]

  /// The message, the code and the statement.
  public var description: String {
    "SQLite: \(message) (\(code.rawValue))" + (sql.map { " in: \($0)" } ?? "")
  }

  /// The description, as Foundation's `localizedDescription`.
  public var errorDescription: String? { description }
}

extension SQLiteError.Code {
  /// Memory is exhausted, or its limit is reached.
  public static let noMemory = Self(rawValue: SQLITE_NOMEM)
  /// The statement is invalid (`SQLITE_ERROR`).
  public static let error = Self(rawValue: SQLITE_ERROR)
  /// Another connection holds the lock (`SQLITE_BUSY`).
  public static let busy = Self(rawValue: SQLITE_BUSY)
  /// Another statement of a shared cache holds the lock (`SQLITE_LOCKED`).
  public static let locked = Self(rawValue: SQLITE_LOCKED)
  /// The database cannot be written (`SQLITE_READONLY`).
  public static let readOnly = Self(rawValue: SQLITE_READONLY)
  /// The file is not a database (`SQLITE_NOTADB`).
  public static let notADatabase = Self(rawValue: SQLITE_NOTADB)
  /// The file cannot be opened (`SQLITE_CANTOPEN`).
  public static let cannotOpen = Self(rawValue: SQLITE_CANTOPEN)
  /// The file was moved or deleted after it was opened (`SQLITE_READONLY_DBMOVED`).
  public static let moved = Self(rawValue: SQLITE_READONLY | (4 << 8))
  /// Reading or writing the file failed (`SQLITE_IOERR`).
  public static let inputOutput = Self(rawValue: SQLITE_IOERR)
  /// The disk is full (`SQLITE_FULL`).
  public static let full = Self(rawValue: SQLITE_FULL)
  /// The file is damaged (`SQLITE_CORRUPT`).
  public static let corrupt = Self(rawValue: SQLITE_CORRUPT)
  /// The locks of the write-ahead log stay in an invalid state (`SQLITE_PROTOCOL`).
  public static let lockingProtocol = Self(rawValue: SQLITE_PROTOCOL)
  /// A text or blob is larger than SQLite's limit (`SQLITE_TOOBIG`).
  public static let tooBig = Self(rawValue: SQLITE_TOOBIG)
  /// A constraint is violated (`SQLITE_CONSTRAINT`).
  public static let constraint = Self(rawValue: SQLITE_CONSTRAINT)
  /// A unique index is violated.
  public static let uniqueConstraint = Self(rawValue: SQLITE_CONSTRAINT | (8 << 8))
  /// A primary key is in use.
  public static let primaryKeyConstraint = Self(rawValue: SQLITE_CONSTRAINT | (6 << 8))
  /// The statement was interrupted (`SQLITE_INTERRUPT`).
  public static let interrupted = Self(rawValue: SQLITE_INTERRUPT)
}
