import ArgumentParser
import MoonbasePlatform

/// The options of commands that write objects: those of `StoreOption`, for the argument parser.
struct WritingOptionGroup: ParsableArguments {
  @Option(name: StoreOption.store.parserName, help: StoreOption.store.parserHelp)
  var store: [String] = []

  @Option(name: StoreOption.model.parserName, help: StoreOption.model.parserHelp)
  var model: String?

  @Option(name: StoreOption.modules.parserName, help: StoreOption.modules.parserHelp)
  var modules: [String] = []

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  @Flag(name: StoreOption.keepsHistory.parserName, help: StoreOption.keepsHistory.parserHelp)
  var keepsHistory = false

  @Option(name: StoreOption.busyTimeout.parserName, help: StoreOption.busyTimeout.parserHelp)
  var busyTimeout: String?

  @Option(name: StoreOption.synchronous.parserName, help: StoreOption.synchronous.parserHelp)
  var synchronous: String?

  func validate() throws { try understood { _ = try settings() } }

  /// What they say. Where no store is named, `MOONBASE_STORE` of the environment does.
  func settings() throws(UsageError) -> StoreSettings {
    var settings = StoreSettings()
    for value in store { try StoreOption.store.take(value, &settings) }
    if store.isEmpty, let value = ProcessInfo.processInfo.environment["MOONBASE_STORE"], !value.isEmpty {
      try StoreOption.store.take(value, &settings)
    }
    if let model { try StoreOption.model.take(model, &settings) }
    for value in modules { try StoreOption.modules.take(value, &settings) }
    if allowsCloudKit { try StoreOption.allowsCloudKit.take("", &settings) }
    if keepsHistory { try StoreOption.keepsHistory.take("", &settings) }
    if let busyTimeout { try StoreOption.busyTimeout.take(busyTimeout, &settings) }
    if let synchronous { try StoreOption.synchronous.take(synchronous, &settings) }
    guard !settings.stores.isEmpty else {
      throw UsageError("there is no store to work on: name one with --store PATH, or in the variable MOONBASE_STORE")
    }
    return settings
  }
}
