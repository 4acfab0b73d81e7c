import MoonbaseGraph
import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseSQLiteStore

/// The extensions that a store asks for and that are not loaded. Saves ran with some of them. Transformers and
/// classes that the model names would come from the rest.
struct LeftOutExtensions {
  /// A message that names them; nil where there are none.
  let message: String?

  /// `loaded` are the names of the extensions that are loaded.
  init(of url: URL, _ model: ResolvedModel, loaded: [String], _ settings: StoreSettings) throws {
    let versions = RememberedExtensions.versions(
      in: try SQLiteStore.metadata(ofStoreAt: url, busyTimeout: settings.busyTimeout))
    // Extensions that do not provide what the model names are not loaded.
    let unprovided = settings.extensions.isEmpty ? Self.names(in: model) : []
    let missing = versions.keys.filter { !loaded.contains($0) && !settings.withoutExtensions.contains($0) }.sorted()
    var parts: [String] = []
    if !missing.isEmpty {
      let word = missing.count == 1 ? "extension" : "extensions"
      parts.append("saves of the store ran with \(word) \(missing.listed())")
    }
    if !unprovided.isEmpty { parts.append("the model names \(unprovided.listed())") }
    message =
      parts.isEmpty
      ? nil
      : "\(url.relativePath): \(parts.joined(separator: ", and ")), which no extension here provides: "
        + "its rules, derived attributes and values were not checked; name it with --extension PATH"
  }

  /// The transformers and the classes of values that extensions have to provide.
  private static func names(in model: ResolvedModel) -> [String] {
    var names: [String] = []
    for attribute in model.entities.flatMap(\.description.attributes) {
      if let name = attribute.valueTransformerName {
        // A ready-made transformer comes with its class.
        if ReadyMadeTransformers.names.contains(name) { continue }
        if !AppleNames.isTransformer(name) { names.append("transformer \(name)") }
      }
      if let name = attribute.valueClassName, !AppleNames.isValueClass(name) { names.append("class \(name)") }
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }
}
