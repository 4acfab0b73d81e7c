package import MoonbaseModel
package import MoonbasePlatform

/// A model written in a format, as bytes: a file, or a folder of files.
///
/// ```swift
/// let written = try WrittenModel(versions, as: .momd)
/// for loss in written.losses { print(loss) }      // what the form cannot hold
/// ```
///
/// Nothing is written to disk here. The caller writes the pieces, and may read `versions` back
/// first as a check.
package struct WrittenModel {
  /// A file or a folder.
  package indirect enum Piece {
    /// The bytes of a file.
    case file(Data)
    /// The entries of a folder, in order.
    case folder([(name: String, piece: Piece)])
  }

  /// The file or folder.
  package let piece: Piece
  /// An error for each setting that the format cannot hold.
  package let losses: [ModelError]
  /// Each version as written, without losses, and its bytes, which read back as an equal model.
  package let versions: [(model: ManagedObjectModel, bytes: Data)]

  /// Writes a model. A format for a single version gets the current one.
  ///
  /// Throws for an invalid version, and for a value that the format cannot hold.
  package init(_ model: VersionedModel, as form: ModelForm) throws(ModelError) {
    let written = form.holdsVersions ? model.versions : model.versions.filter { $0.name == model.currentName }
    var writer = VersionWriter(form: form.formOfVersion)
    for version in written { try writer.write(version) }
    (losses, versions) = (writer.losses, writer.versions)
    guard form.holdsVersions else {
      piece = writer.pieces.first?.piece ?? .folder([])
      return
    }
    let list =
      form == .momd
      ? CurrentVersion.compiledList(model.currentName, of: writer.hashes)
      : CurrentVersion.xcodeList(model.currentName)
    let name = form == .momd ? CurrentVersion.compiledName : CurrentVersion.xcodeName
    piece = .folder(writer.pieces + [(name, .file(list))])
  }
}

/// Writes versions in order.
///
/// A writer collects the pieces, the losses and the hashes of all versions of a model.
private struct VersionWriter {
  /// The format of each version.
  let form: ModelForm
  /// The files or folders of the versions.
  private(set) var pieces: [(name: String, piece: WrittenModel.Piece)] = []
  /// The versions as written.
  private(set) var versions: [(model: ManagedObjectModel, bytes: Data)] = []
  /// The hashes of the versions, for the list of a `.momd`.
  private(set) var hashes: [(name: String, version: ModelVersion)] = []
  /// The settings that the format cannot hold.
  private(set) var losses: [ModelError] = []

  /// A writer without versions.
  init(form: ModelForm) { self.form = form }

  /// Writes a version. Throws for an invalid model, and for a value that the format cannot hold.
  mutating func write(_ version: VersionedModel.Version) throws(ModelError) {
    let resolved = try version.model.resolved()
    hashes.append((version.name, resolved.version))
    losses += version.model.omissions.map { ModelError(.unsupportedForm, message: $0) }
    let model = reduced(fitting(version.model))
    let bytes = try self.bytes(of: model, resolved: resolved)
    versions.append((model, bytes))
    let isFolder = form == .xcdatamodel
    pieces.append(
      ("\(version.name).\(form.rawValue)", isFolder ? .folder([(ModelForm.contentsName, .file(bytes))]) : .file(bytes)))
  }

  /// Xcode's formats hold values that do not fit their attribute, as text; for others they are converted.
  private mutating func fitting(_ model: ManagedObjectModel) -> ManagedObjectModel {
    if [.xcdatamodel, .xml].contains(form) || !model.allowsUnknownClasses { return model }
    let fitting = FittingModel(model)
    losses += fitting.losses
    return fitting.model
  }

  /// An archive holds all settings; for other formats the model is reduced.
  private mutating func reduced(_ model: ManagedObjectModel) -> ManagedObjectModel {
    if form == .mom { return model }
    let reduced = ReducedModel(model, to: form == .lua ? .lua : .xcode)
    losses += reduced.losses
    return reduced.model
  }

  /// The bytes of a version.
  private func bytes(of model: ManagedObjectModel, resolved: ResolvedModel) throws(ModelError) -> Data {
    switch form {
    case .mom, .momd: try resolved.archive()
    case .lua: Data(try model.luaSource().utf8)
    case .xcdatamodel, .xcdatamodeld, .xml: Data(try model.xcodeContents().utf8)
    }
  }
}
