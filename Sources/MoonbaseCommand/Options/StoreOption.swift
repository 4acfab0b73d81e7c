import MoonbasePlatform
import MoonbaseScripting

/// The options for the store of a command, and for opening it.
typealias StoreOption = CommandOption

extension CommandOption {
  /// All options for stores, in the order of the help.
  static let stores = [
    store, readOnly, allowsCloudKit, tracksHistory, busyTimeout, synchronous, model, modules, withoutExtension,
    extensionLimit, profile, author,
  ]

  /// The path and the configuration of a store.
  static let store = CommandOption(
    name: "--store", argument: "[CONFIG=]PATH", isRepeatable: true,
    help: """
      the store: a SQLite file, or an address of PostgreSQL; repeatable, with the model's configuration that each store holds; a new file with '=' in its name \
      is written as ./a=b.sqlite
      """
  ) { value, settings throws(UsageError) in try settings.stores.add(store: value) }

  /// The store that the environment variable `MOONBASE_STORE` names.
  static var storeOfEnvironment: String? {
    Environment.value("MOONBASE_STORE").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The path of the model.
  static let model = CommandOption(
    name: "--model", argument: "PATH", completion: .files,
    help: "the model (default: that of the project, else the one that the store keeps)"
  ) { value, settings in settings.stores.model = value }

  /// The path of an extension.
  static let modules = CommandOption(
    name: "--extension", argument: "PATH", isRepeatable: true, completion: .files,
    help: "load an extension (default: those of the project); repeatable, dependencies in any order"
  ) { value, settings in settings.stores.extensions.append(value) }

  /// The name of an extension that the store requires and that is not used.
  static let withoutExtension = CommandOption(
    name: "--without-extension", argument: "NAME", isRepeatable: true,
    help: "go without an extension that saves of the store ran with; repeatable"
  ) { value, settings in settings.stores.withoutExtensions.insert(value) }

  /// The limits of an extension's functions.
  static let extensionLimit = CommandOption(
    name: "--extension-limit", argument: "NAME:LIMITS", isRepeatable: true,
    help: "limit each call of an extension's functions: instructions=N,memory=BYTES,time=SECONDS,disable; repeatable"
  ) { value, settings throws(UsageError) in
    let (name, limits) = try ExtensionLimits.named(value)
    settings.stores.extensionLimits[name] = limits
  }

  /// Whether calls of extensions are measured.
  static let profile = CommandOption(
    name: "--profile", argument: nil, help: "count what the functions of extensions cost, and print a table at the end"
  ) { _, settings in settings.stores.profiles = true }

  /// Only for commands that write objects.
  static let author = CommandOption(
    name: "--author", argument: "NAME", help: "the author of what is saved, for a store that keeps a history"
  ) { value, settings throws(UsageError) in
    guard !value.isEmpty else { throw UsageError("--author takes a name") }
    settings.stores.author = value
  }

  /// Whether the store is opened read-only.
  static let readOnly = CommandOption(name: "--read-only", argument: nil, help: "change nothing in the store") {
    _, settings in settings.stores.readOnly = true
  }

  /// Whether a store may be written although CloudKit mirrors it.
  static let allowsCloudKit = CommandOption(
    name: "--allow-cloudkit", argument: nil, help: "write a store that CloudKit mirrors, which will not hear of it"
  ) { _, settings in settings.stores.allowsCloudKit = true }

  /// Only for commands that write objects. A store that is only read gets no new tables.
  static let tracksHistory = CommandOption(
    name: "--keep-history", argument: nil, help: "keep a history of what is saved, in a store that has none so far"
  ) { _, settings in settings.stores.tracksHistory = true }

  /// The time to wait for a locked store.
  static let busyTimeout = CommandOption(
    name: "--busy-timeout", argument: "SECONDS",
    help: "how long to wait for other processes that use the store (default: 5)"
  ) { value, settings throws(UsageError) in settings.stores.busyTimeout = try duration(value) }

  /// Only for commands that write objects.
  static let synchronous = CommandOption(
    name: "--synchronous", argument: "normal|full", completion: .values(["normal", "full"]),
    help: "full: each save is on the disk before it is done; normal: a loss of power may take the last ones (default)"
  ) { value, settings throws(UsageError) in
    guard ["normal", "full"].contains(value) else {
      throw UsageError("--synchronous takes 'normal' or 'full', not '\(value)'")
    }
    settings.stores.synchronizesFully = value == "full"
  }

  /// A number of seconds from 0 to one day.
  ///
  /// - Throws: A `UsageError` for a value outside of this range.
  static func duration(_ value: String) throws(UsageError) -> Duration {
    guard let seconds = Double(value), (0...86_400).contains(seconds) else {
      throw UsageError("--busy-timeout takes a number of seconds from 0 to 86400, not '\(value)'")
    }
    return .seconds(seconds)
  }
}
