import Moonbase
import MoonbaseGraph
import MoonbasePlatform

/// A store as the command line and a project name it: a path, and the configuration of the model that it holds.
struct NamedStore: Equatable {
  var configuration: String?
  var path: String
}

extension NamedStore {
  /// Takes `[CONFIGURATION=]PATH`. The '=' belongs to the path where no configuration can have the name before it, and
  /// where a file of the whole name is there.
  init(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let mayBeName = parts.count == 2 && !parts[0].isEmpty && !parts[0].contains { "/?".contains($0) }
    let isNamed = mayBeName && !FileManager.default.fileExists(atPath: text)
    self.init(configuration: isNamed ? parts[0] : nil, path: isNamed ? parts[1] : text)
  }

  var description: PersistentStoreDescription { .sqlite(URL(literalPath: path), configuration: configuration) }
}

extension [NamedStore] {
  /// `Local (local.sqlite) and Far (far.sqlite)`, for messages.
  var phrase: String {
    let names = map { store in store.configuration.map { "\($0) (\(store.path))" } ?? store.path }
    let former = names.dropLast().joined(separator: ", ")
    return [former, names.last ?? ""].filter { !$0.isEmpty }.joined(separator: " and ")
  }
}
