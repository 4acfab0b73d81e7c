import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseScripting

/// A model that was read from one form and written in another, in memory.
struct ModelConversion {
  let written: WrittenModel
  /// Versions that are left out, and warnings of the reader.
  let notes: [String]
  private let source: String
  private let form: ModelForm

  /// Reads a model and writes it. A model without versions becomes one of the given name.
  init(source: String, form: ModelForm, version: String?, name: String) throws {
    (self.source, self.form) = (source, form)
    let hasVersions = Self.hasVersions(source)
    var versions = try Self.read(source, hasVersions: hasVersions)
    var notes: [String] = []
    if let version { try Self.choose(version, of: &versions, in: source, hasVersions: hasVersions) }
    if !form.holdsVersions, versions.versions.count > 1 {
      let others = versions.versions.map(\.name).filter { $0 != versions.currentName }
      notes.append(
        "\(source): the current version, \(versions.currentName), is written, without \(others.joined(separator: ", "))"
          + ": --model-version names another one")
    }
    if versions.versions.count == 1, !form.holdsVersions || !hasVersions {
      versions = VersionedModel(
        versions: [.init(name: name, model: versions.versions[0].model)], currentName: name)
    }
    self.notes = notes + versions.versions.flatMap { version in version.model.warnings.map { "\(source): \($0)" } }
    written = try WrittenModel(versions, as: form)
  }

  private static func hasVersions(_ path: String) -> Bool {
    guard let entries = try? ModelSource(contentsOf: URL(literalPath: path)).entries else { return false }
    return entries.contains { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }
  }

  private static func read(_ path: String, hasVersions: Bool) throws -> VersionedModel {
    let url = URL(literalPath: path)
    if hasVersions { return try VersionedModel(ModelSource(contentsOf: url)) }
    return VersionedModel(
      versions: [.init(name: path, model: try ManagedObjectModel(contentsOf: url))], currentName: path)
  }

  private static func choose(
    _ name: String, of versions: inout VersionedModel, in path: String, hasVersions: Bool
  ) throws {
    guard let version = versions.versions.first(where: { $0.name == name }) else {
      let names = versions.versions.map(\.name)
      let known = hasVersions ? "its versions are \(names.joined(separator: ", "))" : "it has no versions"
      throw GraphError(
        .unknownName, message: "\(path) has no version \(name): \(known)\(suggestion(for: name, among: names))")
    }
    versions = VersionedModel(versions: [version], currentName: name)
  }

  /// Throws where something is lost that may not be. The bytes are read again, and have to give an equal model.
  func check(allowingLoss: Bool, quiet: Bool) throws {
    if let first = written.losses.first {
      guard allowingLoss else {
        throw ModelError(
          first.code,
          message: """
            \(source) says more than the form \(form.rawValue) can hold:
            \(written.losses.map { "- \($0.message)" }.joined(separator: "\n"))
            nothing was written: choose another form, or go without these by --allow-loss
            """)
      }
      if !quiet { written.losses.forEach { Terminal.complain("lost: \($0.message)") } }
    }
    try compare()
  }

  private func compare() throws {
    let readers = ManagedObjectModel.readers + [LuaModelFile()]
    for (model, bytes) in written.versions {
      let name = "\(source) as \(form.rawValue)"
      let again = try ManagedObjectModel.read(ModelSource(bytes, name: name), readers: readers)
      let difference = ModelDifference(from: model, to: again)
      let hashesAgree = try model.resolved().versionHashes == again.resolved().versionHashes
      guard difference.isEmpty, hashesAgree else {
        throw ModelError(
          .unsupportedForm,
          message: "\(source) cannot be written in the form \(form.rawValue) as it is; read again it would differ:\n"
            + (difference.isEmpty ? "its version hashes" : "\(difference)"))
      }
    }
  }
}
