import Moonbase
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The models for the options `--from` and `--to`. They begin with the models of `--from` in the given order. If the
/// model of `--to` has several versions, its versions up to the current one follow. Otherwise, this one model follows.
///
/// The whole list is the chain of versions that a staged migration passes through. A store may have
/// any of them, or only its own stored model.
struct ModelVersions {
  /// A version with its name for errors and plans.
  struct Version {
    /// The path or the name of the version in the model.
    let name: String
    /// The model of the version.
    let model: ResolvedModel
  }

  /// The models of `--from`.
  let named: [Version]
  /// The versions of `--to` up to the current one.
  let versions: [Version]

  /// Reads all models of the options.
  ///
  /// - Parameters:
  ///   - from: The paths of `--from`.
  ///   - to: The path of `--to`.
  /// - Throws: The errors of reading a model.
  init(from: [String], to: String) throws {
    named = try from.map { Version(name: $0, model: try ModelFile.read($0)) }
    guard let source = try? ModelSource(contentsOf: URL(literalPath: to)), source.entries != nil,
      let versioned = try? VersionedModel(source), versioned.versions.count > 1
    else {
      versions = [Version(name: to, model: try ModelFile.read(to))]
      return
    }
    let current = versioned.versions.firstIndex { $0.name == versioned.currentName } ?? versioned.versions.count - 1
    versions = try versioned.versions[...current].map { Version(name: $0.name, model: try $0.model.resolved()) }
  }

  /// The model of the store after the migration.
  var destination: ResolvedModel { versions[versions.count - 1].model }

  /// The models that the store may have now.
  var sources: [ResolvedModel] { (named + versions).map(\.model) }

  /// All versions in their order.
  var chain: [Version] { named + versions }

  /// The versions after the version of a store. The store is migrated to each of them.
  ///
  /// - Parameters:
  ///   - store: The location of the store.
  ///   - configuration: The configuration that the store contains, or nil.
  ///   - busyTimeout: The time to wait for a writing process.
  func stages(from store: URL, configuration: String?, busyTimeout: Duration?) throws -> ArraySlice<Version> {
    let first = try SQLiteStore.version(
      ofStoreAt: store, among: chain.map(\.model), configuration: configuration, busyTimeout: busyTimeout)
    // If a store has none of these versions, the stages start from the model in the store.
    return first.map { chain[($0 + 1)...] } ?? chain[...]
  }

  /// The names of the model's own versions between the version of a store and the current version. The list is empty if
  /// the store has none of these versions.
  ///
  /// - Parameters:
  ///   - store: The location of the store.
  ///   - configuration: The configuration that the store contains, or nil.
  ///   - busyTimeout: The time to wait for a writing process.
  func passedOver(from store: URL, configuration: String?, busyTimeout: Duration?) throws -> [String] {
    let first = try SQLiteStore.version(
      ofStoreAt: store, among: versions.map(\.model), configuration: configuration, busyTimeout: busyTimeout)
    guard let first, first + 1 < versions.count else { return [] }
    return versions[(first + 1)..<(versions.count - 1)].map(\.name)
  }
}
