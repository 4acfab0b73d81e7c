import MoonbaseScripting

/// The exit status of the command, as its documentation lists it. If a script calls `os.exit(n)`, the status is `n`.
enum ExitStatus {
  /// Everything was done.
  static let done: Int32 = 0
  /// The script, the data or a check failed.
  static let failed: Int32 = 1
  /// The command line is wrong.
  static let usage: Int32 = 2
  /// A script reached a limit.
  static let limit: Int32 = 3
  /// The work is done, but some objects or rows failed and were reported.
  static let rejects: Int32 = 4
  /// SIGINT arrived: 128 and the signal's number.
  static let interrupted: Int32 = 130

  /// The status for an error that ends the command, including 3, 75 and 130.
  ///
  /// Scripts and commands use the same mapping.
  static func status(for error: any Error) -> Int32 {
    ScriptRunner.status(of: error)
  }
}
