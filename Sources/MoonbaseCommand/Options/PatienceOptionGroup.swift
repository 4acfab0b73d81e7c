import ArgumentParser

/// The option for the time that a command waits for other processes which use its store.
struct PatienceOptionGroup: ParsableArguments {
  @Option(name: StoreOption.busyTimeout.parserName, help: StoreOption.busyTimeout.parserHelp)
  var busyTimeout: String?

  @OptionGroup var project: ProjectOptionGroup

  func validate() throws { try understood { _ = try duration() } }

  /// Nil if the option is not given.
  func duration() throws(UsageError) -> Duration? {
    guard let busyTimeout else { return nil }
    return try StoreOption.duration(busyTimeout)
  }
}
