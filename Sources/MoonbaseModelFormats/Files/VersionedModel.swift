public import MoonbaseModel
public import MoonbasePlatform

/// All versions of a model in an `.xcdatamodeld` or a `.momd`.
///
/// ```swift
/// let model = try VersionedModel(ModelSource(contentsOf: url))
/// print(model.versions.map(\.name), model.currentName)
/// let writer = model.version(with: hashesOfAStore)
/// ```
public struct VersionedModel: Sendable, Hashable {
  /// A version of the model.
  public struct Version: Sendable, Hashable {
    /// The version's name, without a suffix.
    public var name: String
    /// The model.
    public var model: ManagedObjectModel

    /// A version.
    public init(name: String, model: ManagedObjectModel) {
      self.name = name
      self.model = model
    }
  }

  /// The versions sorted by name, with numbers by value.
  public var versions: [Version]
  /// The name of the current version.
  public var currentName: String

  /// A versioned model.
  public init(versions: [Version], currentName: String) {
    self.versions = versions
    self.currentName = currentName
  }

  /// The current version; nil if there is none with its name.
  public var current: ManagedObjectModel? { versions.first { $0.name == currentName }?.model }

  /// The version with these hashes, for finding the model with which a store was written.
  ///
  /// Versions that are invalid are skipped. Each version is resolved, so keep the result.
  public func version(with hashes: [String: Data]) -> Version? {
    versions.first { version in (try? version.model.resolved().versionHashes) == hashes }
  }

  /// Reads all versions of an `.xcdatamodeld` or a `.momd`. A single model counts as a version.
  ///
  /// Throws `ModelError`, as `read` of `ManagedObjectModel` does.
  public init(_ source: ModelSource) throws(ModelError) {
    if let folder = VersionFolder(source) {
      self = try folder.read()
    } else {
      let model = try ManagedObjectModel.read(source)
      self.init(versions: [Version(name: source.name, model: model)], currentName: source.name)
    }
  }
}

extension VersionedModel {
  /// The names of the versions in an `.xcdatamodeld` or a `.momd`; nil for a model without versions.
  package static func names(in source: ModelSource) -> [String]? { VersionFolder(source)?.names }

  /// Reads a single version, whether or not it is current. Nil if there is no version with this name.
  ///
  /// Throws `ModelError` if the version cannot be read.
  package init?(_ source: ModelSource, version name: String) throws(ModelError) {
    guard let folder = VersionFolder(source), folder.names.contains(name) else { return nil }
    self.init(versions: [Version(name: name, model: try folder.model(name))], currentName: name)
  }
}
