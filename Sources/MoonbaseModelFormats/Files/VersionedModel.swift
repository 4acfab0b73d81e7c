public import MoonbaseModel
public import MoonbasePlatform

/// All versions of a model that an `.xcdatamodeld` or a `.momd` holds.
///
/// ```swift
/// let model = try VersionedModel(ModelSource(contentsOf: url))
/// print(model.versions.map(\.name), model.currentName)
/// let writer = model.version(with: hashesOfAStore)
/// ```
public struct VersionedModel: Sendable, Hashable {
  /// One version.
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

  /// The versions in order of their names, numbers in them by value.
  public var versions: [Version]
  /// The name of the version in use.
  public var currentName: String

  /// A versioned model.
  public init(versions: [Version], currentName: String) {
    self.versions = versions
    self.currentName = currentName
  }

  /// The version in use.
  public var current: ManagedObjectModel? { versions.first { $0.name == currentName }?.model }

  /// The version whose hashes a store names, which tells with which model it was written.
  public func version(with hashes: [String: Data]) -> Version? {
    versions.first { version in (try? version.model.resolved().versionHashes) == hashes }
  }

  /// Reads every version of an `.xcdatamodeld` or a `.momd`. A single model counts as one version.
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

  /// Reads one version alone, whether or not one is current. Nil where there is no version of the name.
  package init?(_ source: ModelSource, version name: String) throws(ModelError) {
    guard let folder = VersionFolder(source), folder.names.contains(name) else { return nil }
    self.init(versions: [Version(name: name, model: try folder.model(name))], currentName: name)
  }
}
