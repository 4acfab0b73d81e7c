import MoonbaseScripting

/// How the command ends, as its documentation lists it. A script's own `os.exit(n)` is passed on as it is.
enum ExitStatus {
  static let done: Int32 = 0
  /// The script, the data or a check failed.
  static let failed: Int32 = 1
  static let usage: Int32 = 2
  /// A limit was exceeded.
  static let limit: Int32 = 3
  /// The store is busy: try again.
  static let busy: Int32 = 75
  static let interrupted: Int32 = 130

  /// The status for an error that ends the command.
  static func status(for error: any Error) -> Int32 {
    ScriptRunner.status(of: error)
  }
}
