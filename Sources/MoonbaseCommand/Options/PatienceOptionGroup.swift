import ArgumentParser

/// The option for the time that a command waits for other processes which use its store.
struct PatienceOptionGroup: ParsableArguments {
  @Option(name: StoreOption.busyTimeout.parserName, help: StoreOption.busyTimeout.parserHelp)
  var busyTimeout: String?

  @OptionGroup var project: ProjectOptionGroup

  /// Checks the value.
  func validate() throws { try understood { _ = try duration() } }

  /// Nil if the option is not given.
  ///
  /// - Throws: A `UsageError` for a value that is no number of seconds up to a day.
  func duration() throws(UsageError) -> Duration? {
    guard let busyTimeout else { return nil }
    return try StoreOption.duration(busyTimeout)
  }
}
