package import MoonbaseModel
package import MoonbasePlatform

/// A model in one of its forms, as bytes: a file, or a folder of files.
///
/// ```swift
/// let written = try WrittenModel(versions, as: .momd)
/// for loss in written.losses { print(loss) }      // what the form cannot hold
/// ```
package struct WrittenModel {
  /// A file or a folder.
  package indirect enum Piece {
    case file(Data)
    case folder([(name: String, piece: Piece)])
  }

  /// The file or folder.
  package let piece: Piece
  /// An error for each thing that the form cannot hold, and that is not in the piece therefore.
  package let losses: [ModelError]
  /// Each version as it was written, without what was lost, and its bytes: reading these gives an equal model.
  package let versions: [(model: ManagedObjectModel, bytes: Data)]

  /// Writes a model. Of several versions a form that holds one takes the current one.
  ///
  /// Throws where a version is not sound, and where the form has no place for a value.
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

/// Writes versions one after the other.
private struct VersionWriter {
  let form: ModelForm
  private(set) var pieces: [(name: String, piece: WrittenModel.Piece)] = []
  private(set) var versions: [(model: ManagedObjectModel, bytes: Data)] = []
  private(set) var hashes: [(name: String, version: ModelVersion)] = []
  private(set) var losses: [ModelError] = []

  init(form: ModelForm) { self.form = form }

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

  /// Xcode's forms hold values that do not fit their attribute, as texts.
  private mutating func fitting(_ model: ManagedObjectModel) -> ManagedObjectModel {
    if [.xcdatamodel, .xml].contains(form) || !model.allowsUnknownClasses { return model }
    let fitting = FittingModel(model)
    losses += fitting.losses
    return fitting.model
  }

  /// An archive holds all that a model says.
  private mutating func reduced(_ model: ManagedObjectModel) -> ManagedObjectModel {
    if form == .mom { return model }
    let reduced = ReducedModel(model, to: form == .lua ? .lua : .xcode)
    losses += reduced.losses
    return reduced.model
  }

  private func bytes(of model: ManagedObjectModel, resolved: ResolvedModel) throws(ModelError) -> Data {
    switch form {
    case .mom, .momd: try resolved.archive()
    case .lua: Data(try model.luaSource().utf8)
    case .xcdatamodel, .xcdatamodeld, .xml: Data(try model.xcodeContents().utf8)
    }
  }
}
