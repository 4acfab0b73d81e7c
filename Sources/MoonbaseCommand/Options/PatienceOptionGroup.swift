import ArgumentParser

/// How long a command that takes a store waits for other processes.
struct PatienceOptionGroup: ParsableArguments {
  @Option(name: StoreOption.busyTimeout.parserName, help: StoreOption.busyTimeout.parserHelp)
  var busyTimeout: String?

  @OptionGroup var project: ProjectOptionGroup

  func validate() throws { try understood { _ = try duration() } }

  /// Nil where nothing is said.
  func duration() throws(UsageError) -> Duration? {
    guard let busyTimeout else { return nil }
    return try StoreOption.duration(busyTimeout)
  }
}
