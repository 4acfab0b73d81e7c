import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform

/// Checks whether a model is the one that wrote a store.
///
/// Core Data compares the version hashes in the store's metadata with those of the model. Equal hashes mean that the
/// file has the columns that the model expects.
package struct StoreCompatibility {
  /// The file, for messages.
  private let path: String
  /// The hashes in the metadata, by entity.
  private let stored: [String: Data]
  /// The hashes of the model.
  private let version: ModelVersion
  /// The model that opens the store.
  private let model: ManagedObjectModel
  /// Reads the stored model, if there is one.
  private let carried: () -> ManagedObjectModel?

  /// `carried` is called at most when hashes differ, because reading the stored model costs time.
  package init(
    path: String, stored: [String: Data], version: ModelVersion, model: ManagedObjectModel,
    carried: @escaping () -> ManagedObjectModel?
  ) {
    (self.path, self.stored, self.version, self.model) = (path, stored, version, model)
    self.carried = carried
  }

  /// Throws `.incompatibleVersionHash` with the differences: the entities, and in the details their properties.
  ///
  /// Where Apple's hash of an entity cannot be computed, the entity is compared with the stored model, if that contains
  /// it.
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
        + "open it with that version, or migrate it (moonbase migrate STORE --to MODEL)",
      details: details)
  }

  /// The differing entities with their properties. Empty without a stored model.
  private var details: [GraphError] {
    guard let old = carried() else { return [] }
    return ModelDifference(from: old, to: model).entities.filter(\.needsMigration).map {
      GraphError(.incompatibleVersionHash, message: $0.description, entity: $0.name)
    }
  }
}
