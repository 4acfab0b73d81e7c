import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform

/// Whether a model is the one that wrote a store.
package struct StoreCompatibility {
  private let path: String
  private let stored: [String: Data]
  private let version: ModelVersion
  /// The model that it is opened with.
  private let model: ManagedObjectModel
  /// Reads the model that the store carries, if it does.
  private let carried: () -> ManagedObjectModel?

  package init(
    path: String, stored: [String: Data], version: ModelVersion, model: ManagedObjectModel,
    carried: @escaping () -> ManagedObjectModel?
  ) {
    (self.path, self.stored, self.version, self.model) = (path, stored, version, model)
    self.carried = carried
  }

  /// Throws `.incompatibleVersionHash` with what differs: the entities, and in the details their properties.
  ///
  /// An entity of which Apple's hash cannot be computed is compared with the model that the store carries, and only where that has it.
  package func check() throws {
    let carried = version.unprovenEntities.contains { stored[$0] != version.hashes[$0] } ? carried() : nil
    let known = try? carried?.resolved().version
    let lacking = stored.keys.filter { version.hashes[$0] == nil }.sorted()
    let extra = version.hashes.keys.filter { stored[$0] == nil }.sorted()
    let changed = version.hashes.keys.filter { name in
      guard let hash = stored[name], hash != version.hashes[name] else { return false }
      guard version.unprovenEntities.contains(name) else { return true }
      return known?.hashes[name].map { $0 != version.hashes[name] } ?? false
    }.sorted()
    if lacking.isEmpty && extra.isEmpty && changed.isEmpty { return }
    if lacking.isEmpty, changed.isEmpty, let name = model.configuration(of: stored.keys) {
      throw GraphError(
        .incompatibleVersionHash,
        message: "\(path) holds the configuration \(name) of the model: open it as that (--store \(name)=\(path))")
    }
    let parts = [
      ("only the store has", lacking), ("only the model has", extra), ("differently declared:", changed),
    ].filter { !$0.1.isEmpty }.map { "\($0) \($1.listed())" }
    throw GraphError(
      .incompatibleVersionHash,
      message: "\(path) was written with another version of the model (entities: \(parts.joined(separator: "; "))): "
        + "open it with that version, or migrate it",
      details: details)
  }

  private var details: [GraphError] {
    guard let old = carried() else { return [] }
    return ModelDifference(from: old, to: model).entities.filter(\.needsMigration).map {
      GraphError(.incompatibleVersionHash, message: $0.description, entity: $0.name)
    }
  }
}
