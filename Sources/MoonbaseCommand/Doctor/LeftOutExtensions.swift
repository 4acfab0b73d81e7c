import MoonbaseGraph
import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The extensions that a store needs and that are not loaded. Some extensions were loaded for earlier saves. The rest
/// has to provide the transformers and classes that the model names.
///
/// Without these extensions, a check of the store is incomplete.
struct LeftOutExtensions {
  /// A message that names the extensions, or nil if there are none.
  let message: String?

  /// `loaded` contains the names of the extensions that are loaded.
  init(of store: NamedStore, _ model: ResolvedModel, loaded: [String], _ settings: StoreSettings) throws {
    let versions = RememberedExtensions.versions(
      in: try store.description(busyTimeout: settings.busyTimeout).keptMetadata())
    // Loading extensions fails if they do not provide the names in the model. So this only matters without extensions.
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
      : "\(store.name): \(parts.joined(separator: ", and ")), which no extension here provides: "
        + "its rules, derived attributes and values were not checked; name it with --extension PATH"
  }

  /// The transformers and the classes of values that extensions have to provide.
  private static func names(in model: ResolvedModel) -> [String] {
    var names: [String] = []
    for attribute in model.entities.flatMap(\.description.attributes) {
      if let name = attribute.valueTransformerName {
        // A built-in transformer includes its class.
        if ReadyMadeTransformers.names.contains(name) { continue }
        if !AppleNames.isTransformer(name) { names.append("transformer \(name)") }
      }
      if let name = attribute.valueClassName, !AppleNames.isValueClass(name) { names.append("class \(name)") }
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }
}
