import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Whether a model is the one that wrote a store.
struct StoreCompatibility {
  let path: String
  let stored: [String: Data]
  let version: ModelVersion

  /// Throws `.incompatibleVersionHash` with what differs. Entities whose hash nobody can compute are not compared.
  func check() throws {
    let lacking = stored.keys.filter { version.hashes[$0] == nil }.sorted()
    let extra = version.hashes.keys.filter { stored[$0] == nil }.sorted()
    let changed = version.hashes.keys.filter { name in
      !version.unprovenEntities.contains(name) && stored[name] != nil && stored[name] != version.hashes[name]
    }.sorted()
    if lacking.isEmpty && extra.isEmpty && changed.isEmpty { return }
    let parts = [
      ("only the store has", lacking), ("only the model has", extra), ("differently declared:", changed),
    ].filter { !$0.1.isEmpty }.map { "\($0) \($1.joined(separator: ", "))" }
    throw GraphError(
      .incompatibleVersionHash,
      "\(path) was written with another version of the model (entities: \(parts.joined(separator: "; "))): "
        + "open it with that version, or migrate it")
  }
}
