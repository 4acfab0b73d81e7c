import MoonbaseModel
import MoonbasePlatform

/// A folder with the versions of a model: an `.xcdatamodeld` with folders, or a `.momd` with files.
///
/// Only the names are read at first; a version is read when it is asked for.
struct VersionFolder {
  /// The folder.
  private let source: ModelSource
  /// The suffix of its versions, with the dot.
  private let suffix: String
  /// The names of the versions without suffix, sorted with numbers by value.
  let names: [String]

  /// Returns nil if the source is no such folder.
  init?(_ source: ModelSource) {
    guard let entries = source.entries else { return nil }
    let suffixes = [".xcdatamodel", ".mom"]
    guard let suffix = suffixes.first(where: { suffix in entries.contains { $0.hasSuffix(suffix) } }) else {
      return nil
    }
    self.source = source
    self.suffix = suffix
    names = entries.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
      .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
  }

  /// Whether the versions are compiled.
  var isCompiled: Bool { suffix == ".mom" }

  /// Reads all versions. Throws `.malformedFile` if the current one is not known.
  func read() throws(ModelError) -> VersionedModel {
    var versions: [VersionedModel.Version] = []
    for name in names { versions.append(VersionedModel.Version(name: name, model: try model(name))) }
    return VersionedModel(versions: versions, currentName: try currentName())
  }

  /// Reads the current version.
  func current() throws(ModelError) -> ManagedObjectModel { try model(try currentName()) }

  /// Reads the version with a name.
  func model(_ name: String) throws(ModelError) -> ManagedObjectModel {
    let entry = try source.entry(name + suffix)
    return isCompiled ? try CompiledModelFile().read(entry) : try XcodeModelFolder().read(entry)
  }

  /// The version named by the folder's own file, or the only version.
  ///
  /// Throws `.malformedFile` with the names of the versions.
  private func currentName() throws(ModelError) -> String {
    let (list, key) =
      isCompiled
      ? (CurrentVersion.compiledName, CurrentVersion.compiledKey)
      : (CurrentVersion.xcodeName, CurrentVersion.xcodeKey)
    let entry = source.entries?.contains(list) == true ? try source.entry(list) : nil
    // Xcode leaves an empty file if no version was chosen.
    let named = try entry.map { entry throws(ModelError) in
      try PropertyList(contents: try entry.data(), file: entry.name)[key]?.string
    }
    guard let entry, var name = named ?? nil else {
      if names.count == 1 { return names[0] }
      throw ModelError(
        .malformedFile,
        message: "there are \(names.count) versions and no \(list) that says which is current; they are "
          + "\(names.joined(separator: ", ")): name the path of one, or take one by --model-version of model convert",
        at: SourceLocation(file: source.name))
    }
    if name.hasSuffix(suffix) { name = String(name.dropLast(suffix.count)) }
    guard names.contains(name) else {
      throw ModelError(
        .malformedFile, message: "the current version \(name) is not there\(suggestion(for: name, among: names))",
        at: SourceLocation(file: entry.name))
    }
    return name
  }
}

/// An `.xcdatamodeld`: a folder with an `.xcdatamodel` for each version.
///
/// Reading gives the current version; `VersionedModel` reads all.
struct XcodeVersionedModel: ModelReader {
  /// The name of the format in messages.
  var form: String { "versioned data model of Xcode (.xcdatamodeld)" }

  /// Whether the source is a folder with an `.xcdatamodel`.
  func recognizes(_ source: ModelSource) -> Bool { VersionFolder(source).map { !$0.isCompiled } ?? false }

  /// Reads the current version.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    guard let folder = VersionFolder(source) else {
      throw ModelError(.malformedFile, message: "the folder holds no version", at: SourceLocation(file: source.name))
    }
    return try folder.current()
  }
}

/// A folder of compiled models, `.momd`.
///
/// Reading gives the current version; `VersionedModel` reads all.
struct CompiledModelFolder: ModelReader {
  /// The name of the format in messages.
  var form: String { "versioned compiled model (.momd)" }

  /// Whether the source is a folder with a `.mom`.
  func recognizes(_ source: ModelSource) -> Bool { VersionFolder(source)?.isCompiled ?? false }

  /// Reads the current version.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    guard let folder = VersionFolder(source) else {
      throw ModelError(.malformedFile, message: "the folder holds no version", at: SourceLocation(file: source.name))
    }
    return try folder.current()
  }
}
