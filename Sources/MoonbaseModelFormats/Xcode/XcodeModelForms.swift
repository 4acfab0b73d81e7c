import MoonbaseModel
import MoonbasePlatform

/// The XML file in an `.xcdatamodel`.
///
/// The root element `model` identifies the file, whatever its name.
struct XcodeModelFile: ModelReader {
  /// The name of the format in messages.
  var form: String { "data model of Xcode (contents)" }

  /// Whether the file's root element is `model`.
  func recognizes(_ source: ModelSource) -> Bool { source.beginsWithElement("model") }

  /// Reads the XML. Throws `.malformedFile` and `.invalidModel` with the line.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    try XcodeModelReader.read(try source.data(), file: source.name)
  }
}

/// An `.xcdatamodel`: a folder with a `contents` file.
///
/// Folders from before Xcode 4 are recognised, so that the error gives advice.
struct XcodeModelFolder: ModelReader {
  /// The name of the format in messages.
  var form: String { "data model of Xcode (.xcdatamodel)" }

  /// Whether the source is a folder with a `contents` file, or with the files of the old form.
  func recognizes(_ source: ModelSource) -> Bool {
    source.entries.map { $0.contains("contents") || isOld($0) } ?? false
  }

  /// Reads the `contents` file. Throws `.unsupportedForm` for the old binary form.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    if let entries = source.entries, !entries.contains("contents"), isOld(entries) {
      throw ModelError(
        .unsupportedForm,
        message:
          "this model is in the binary form from before Xcode 4: open it in Xcode once and save it, then it can be read here",
        at: SourceLocation(file: source.name))
    }
    return try XcodeModelFile().read(try source.entry("contents"))
  }

  /// Whether a folder has the files of the form before Xcode 4.
  private func isOld(_ entries: [String]) -> Bool { entries.contains("elements") && entries.contains("layout") }
}

/// A mapping model, which is recognised to be refused: it maps models and is none itself.
struct XcodeMappingFile: ModelReader {
  /// The name of the format in messages.
  var form: String { "mapping model (.xcmappingmodel)" }

  /// Whether the source is a mapping model or its XML file.
  func recognizes(_ source: ModelSource) -> Bool {
    source.entries?.contains("xcmapping.xml") ?? source.beginsWithElement("database")
  }

  /// Throws `.unsupportedForm`. `MappingModel` reads mapping models.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    throw ModelError(
      .unsupportedForm,
      message: "this is a mapping model, which tells how one model becomes another: name one of the two models instead",
      at: SourceLocation(file: source.name))
  }
}
