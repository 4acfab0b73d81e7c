import ArgumentParser

/// The options of commands that read objects. They are the options of `StoreOption` in the form of the argument parser.
///
/// `WritingOptionGroup` extends it for commands that save objects.
struct StoreOptionGroup: ParsableArguments {
  @Option(name: StoreOption.store.parserName, help: StoreOption.store.parserHelp, completion: .file())
  var store: [String] = []

  @Flag(name: StoreOption.readOnly.parserName, help: StoreOption.readOnly.parserHelp)
  var readOnly = false

  @Option(name: StoreOption.model.parserName, help: StoreOption.model.parserHelp, completion: .file())
  var model: String?

  @Option(
    name: StoreOption.modules.parserName, help: StoreOption.modules.parserHelp,
    completion: StoreOption.modules.parserCompletion)
  var modules: [String] = []

  @Option(name: StoreOption.extensionLimit.parserName, help: StoreOption.extensionLimit.parserHelp)
  var extensionLimits: [String] = []

  @Flag(name: StoreOption.profile.parserName, help: StoreOption.profile.parserHelp)
  var profile = false

  @Option(name: StoreOption.busyTimeout.parserName, help: StoreOption.busyTimeout.parserHelp)
  var busyTimeout: String?

  @Option(name: StoreOption.withoutExtension.parserName, help: StoreOption.withoutExtension.parserHelp)
  var withoutExtensions: [String] = []

  @OptionGroup var project: ProjectOptionGroup

  /// Checks the values. A missing store is reported later, when the arguments are known.
  func validate() throws { try understood { _ = try settings(mayNameNone: true) } }

  /// Whether `--store`, the environment or a project names a store.
  var isNamed: Bool { isNamedHere || Project.namesStore }

  /// Whether `--store` or the environment names a store.
  var isNamedHere: Bool { !store.isEmpty || StoreOption.storeOfEnvironment != nil }

  /// The settings that the options give, with the store of an argument. If no store is named, the environment variable
  /// `MOONBASE_STORE` or the project names it. The project also gives the settings that the options leave open.
  ///
  /// - Parameters:
  ///   - argument: The store that an argument names.
  ///   - mayNameNone: Whether a command without a store is valid.
  ///   - isInProject: Whether the project completes the settings.
  /// - Throws: A `UsageError` if the store is named twice or not at all.
  func settings(
    _ argument: String? = nil, mayNameNone: Bool = false, isInProject: Bool = true
  ) throws(UsageError) -> StoreSettings {
    var settings = StoreSettings()
    if let argument, let named = store.first {
      throw UsageError("two stores are named: '\(argument)', and '\(named)' by --store: leave one out")
    }
    let named = argument.map { [$0] } ?? store
    for value in named { try StoreOption.store.apply(value, &settings) }
    if readOnly { try StoreOption.readOnly.apply("", &settings) }
    if profile { try StoreOption.profile.apply("", &settings) }
    try settings.applyStoreOfEnvironment()
    if let model { try StoreOption.model.apply(model, &settings) }
    for value in modules { try StoreOption.modules.apply(value, &settings) }
    for value in extensionLimits { try StoreOption.extensionLimit.apply(value, &settings) }
    for value in withoutExtensions { try StoreOption.withoutExtension.apply(value, &settings) }
    if isInProject, !mayNameNone { try settings.complete(with: Project.current()) }
    if let busyTimeout { try StoreOption.busyTimeout.apply(busyTimeout, &settings) }
    guard !settings.stores.isEmpty || mayNameNone else {
      throw UsageError(
        "there is no store to work on: \(Project.lackOfStore)name one with --store PATH, in the variable MOONBASE_STORE, or in a project file, \(Project.fileName)"
      )
    }
    return settings
  }
}

/// Turns an invalid option into a usage error of the argument parser.
///
/// - Parameter body: Checks the values of options.
func understood(_ body: () throws -> Void) throws {
  do { try body() } catch let error as UsageError { throw ValidationError(error.description) }
}
