import Moonbase
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The models behind --from and --to: those of --from as they were given, then those of a model with several versions up to its current one, or the one
/// model behind --to.
struct ModelVersions {
  /// A version, by its name in an error or a plan.
  struct Version {
    let name: String
    let model: ResolvedModel
  }

  let named: [Version]
  let versions: [Version]

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

  /// The model that the store is to be of.
  var destination: ResolvedModel { versions[versions.count - 1].model }

  /// Those that the store may be of.
  var sources: [ResolvedModel] { (named + versions).map(\.model) }

  /// All of them, one after the other.
  var chain: [Version] { named + versions }

  /// The versions that come after that of a store, in which it is of each.
  func stages(from store: URL, configuration: String?, busyTimeout: Duration?) throws -> ArraySlice<Version> {
    let first = try SQLiteStore.version(
      ofStoreAt: store, among: chain.map(\.model), configuration: configuration, busyTimeout: busyTimeout)
    // One of none of them begins with the model that it carries.
    return first.map { chain[($0 + 1)...] } ?? chain[...]
  }

  /// The names of the model's own versions between that of a store and the current one; none where the store is of none of them.
  func passedOver(from store: URL, configuration: String?, busyTimeout: Duration?) throws -> [String] {
    let first = try SQLiteStore.version(
      ofStoreAt: store, among: versions.map(\.model), configuration: configuration, busyTimeout: busyTimeout)
    guard let first, first + 1 < versions.count else { return [] }
    return versions[(first + 1)..<(versions.count - 1)].map(\.name)
  }
}
