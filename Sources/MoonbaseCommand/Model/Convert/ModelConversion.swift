import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseScripting

/// A model that was read from one form and written in another form, in memory.
///
/// `moonbase model convert` reads the source, writes it in memory, checks the result, and only then
/// writes the destination. A format may be unable to contain everything. In this case, the user
/// must allow the loss.
struct ModelConversion {
  /// The model in the new form.
  let written: WrittenModel
  /// Messages about versions that are left out, and warnings of the reader.
  let notes: [String]
  /// The path of the source.
  private let source: String
  /// The new form.
  private let form: ModelForm

  /// Reads a model and writes it. If the model has no versions, it becomes a version with the given name.
  ///
  /// - Parameters:
  ///   - source: The path of the model.
  ///   - form: The new form.
  ///   - version: The name of the only version to convert, or nil for all.
  ///   - name: The name for a model without versions.
  /// - Throws: The errors of reading the model, and `.unknownName` for the version.
  init(source: String, form: ModelForm, version: String?, name: String) throws {
    let path = source
    let source = ModelFile.shown(path)
    (self.source, self.form) = (source, form)
    let file = PersistentStoreDescription.isAddress(path) ? nil : try ModelSource(contentsOf: URL(literalPath: path))
    let names = file.flatMap(VersionedModel.names(in:))
    var versions = try Self.read(path, file: file, names: names, version: version)
    var notes: [String] = []
    if !form.holdsVersions, versions.versions.count > 1 {
      let others = versions.versions.map(\.name).filter { $0 != versions.currentName }
      notes.append(
        "\(source): the current version, \(versions.currentName), is written, without \(others.joined(separator: ", "))"
          + ": --model-version names another one")
    }
    if versions.versions.count == 1, !form.holdsVersions || names == nil {
      versions = VersionedModel(
        versions: [.init(name: name, model: versions.versions[0].model)], currentName: name)
    }
    self.notes = notes + versions.versions.flatMap { version in version.model.warnings.map { "\(source): \($0)" } }
    written = try WrittenModel(versions, as: form)
  }

  /// Reads all versions, or only the named version, even if other versions are invalid.
  ///
  /// - Parameters:
  ///   - path: The path of the source, or the address of a store.
  ///   - file: The contents of the source; nil for an address.
  ///   - names: The names of all versions, or nil if the source has no versions.
  ///   - version: The requested version.
  private static func read(
    _ path: String, file: ModelSource?, names: [String]?, version: String?
  ) throws -> VersionedModel {
    guard let version else {
      if names != nil, let file { return try VersionedModel(file) }
      let model = try ManagedObjectModel(contentsOf: ModelFile.url(path))
      return VersionedModel(versions: [.init(name: path, model: model)], currentName: path)
    }
    if let file, let versions = try VersionedModel(file, version: version) { return versions }
    let known = names.map { "its versions are \($0.joined(separator: ", "))" } ?? "it has no versions"
    throw GraphError(
      .unknownName,
      message:
        "\(ModelFile.shown(path)) has no version \(version): \(known)\(suggestion(for: version, among: names ?? []))")
  }

  /// Throws if information is lost and this is not allowed. The written bytes are read again, and must give an equal
  /// model.
  ///
  /// - Parameters:
  ///   - allowingLoss: Whether losses are printed as warnings.
  ///   - quiet: Whether the warnings are left out.
  /// - Throws: The first loss as an error.
  func check(allowingLoss: Bool, quiet: Bool) throws {
    if let first = written.losses.first {
      guard allowingLoss else {
        throw ModelError(
          first.code,
          message: """
            \(source) says more than is kept in the form \(form.rawValue):
            \(written.losses.map { "- \($0.message)" }.joined(separator: "\n"))
            nothing was written: choose another form, or go without these by --allow-loss
            """)
      }
      if !quiet { written.losses.forEach { Terminal.complain("lost: \($0.message)") } }
    }
    try compare()
  }

  /// Reads the written bytes of each version, and compares the models. A difference would be a
  /// mistake of the writer.
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
