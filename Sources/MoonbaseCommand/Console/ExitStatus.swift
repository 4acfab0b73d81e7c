import MoonbaseScripting

/// How the command ends, as its documentation lists it. A script's own `os.exit(n)` is passed on as it is.
enum ExitStatus {
  static let done: Int32 = 0
  /// The script, the data or a check failed.
  static let failed: Int32 = 1
  static let usage: Int32 = 2
  static let limit: Int32 = 3
  /// Done, but for objects or rows that failed and were told.
  static let rejects: Int32 = 4
  static let interrupted: Int32 = 130

  /// The status for an error that ends the command: also 3, 75 and 130.
  static func status(for error: any Error) -> Int32 {
    ScriptRunner.status(of: error)
  }
}
