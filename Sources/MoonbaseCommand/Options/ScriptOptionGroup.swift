import ArgumentParser

/// The options of commands that run scripts with a store. They are the options of the table in the form of the argument
/// parser.
///
/// The values are texts here. `settings` passes them to the table, so that `moonbase run` and all
/// other commands accept the same values.
struct ScriptOptionGroup: ParsableArguments {
  @Flag(name: CommandOption.strict.parserName, help: CommandOption.strict.parserHelp)
  var strict = false

  @Option(
    name: CommandOption.saveOrder.parserName, help: CommandOption.saveOrder.parserHelp,
    completion: CommandOption.saveOrder.parserCompletion)
  var saveOrder: String?

  @Option(
    name: CommandOption.sandbox.parserName, help: CommandOption.sandbox.parserHelp,
    completion: CommandOption.sandbox.parserCompletion)
  var sandbox: String?

  @Option(name: CommandOption.allow.parserName, help: CommandOption.allow.parserHelp)
  var allow: [String] = []

  @Flag(name: CommandOption.noFiles.parserName, help: CommandOption.noFiles.parserHelp)
  var noFiles = false

  @OptionGroup var limits: LimitOptionGroup

  /// Checks the values without the project.
  func validate() throws { try understood { _ = try settings(isInProject: false) } }

  /// The settings of the options, completed from the project.
  ///
  /// - Parameter isInProject: Whether the sandbox of the project is used if no option selects one.
  func settings(isInProject: Bool = true) throws(UsageError) -> ScriptSettings {
    var settings = ScriptSettings()
    if strict { try CommandOption.strict.apply("", &settings) }
    if noFiles { try CommandOption.noFiles.apply("", &settings) }
    for value in allow { try CommandOption.allow.apply(value, &settings) }
    let single: [(CommandOption, String?)] = [
      (.saveOrder, saveOrder), (.sandbox, sandbox),
    ]
    for (option, value) in single {
      if let value { try option.apply(value, &settings) }
    }
    if isInProject { try settings.complete(with: Project.current()) }
    return try limits.settings(settings)
  }
}

/// The options of commands that write objects.
///
/// It extends `StoreOptionGroup` by the options that concern saves.
struct WritingOptionGroup: ParsableArguments {
  @OptionGroup var stores: StoreOptionGroup

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  @Flag(name: StoreOption.tracksHistory.parserName, help: StoreOption.tracksHistory.parserHelp)
  var keepHistory = false

  @Option(
    name: StoreOption.synchronous.parserName, help: StoreOption.synchronous.parserHelp,
    completion: StoreOption.synchronous.parserCompletion)
  var synchronous: String?

  @Option(name: StoreOption.author.parserName, parsing: .unconditional, help: StoreOption.author.parserHelp)
  var author: String?

  /// Checks the values.
  func validate() throws { try understood { _ = try settings(mayNameNone: true) } }

  /// The settings that the options give. If no store is named, the environment variable `MOONBASE_STORE` names it.
  ///
  /// - Parameters:
  ///   - argument: The store that an argument names.
  ///   - mayNameNone: Whether a command without a store is valid.
  ///   - isInProject: Whether the project completes the settings.
  func settings(
    _ argument: String? = nil, mayNameNone: Bool = false, isInProject: Bool = true
  ) throws(UsageError) -> StoreSettings {
    var settings = try stores.settings(argument, mayNameNone: mayNameNone, isInProject: isInProject)
    if allowsCloudKit { try StoreOption.allowsCloudKit.apply("", &settings) }
    if keepHistory { try StoreOption.tracksHistory.apply("", &settings) }
    if let author { try StoreOption.author.apply(author, &settings) }
    if let synchronous { try StoreOption.synchronous.apply(synchronous, &settings) }
    return settings
  }
}
