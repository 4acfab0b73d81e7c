import MoonbaseModel
import MoonbasePlatform

/// The XML file in an `.xcdatamodel`.
struct XcodeModelFile: ModelReader {
  var form: String { "data model of Xcode (contents)" }

  func recognizes(_ source: ModelSource) -> Bool { source.beginsWithElement("model") }

  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    try XcodeModelReader.read(try source.data(), file: source.name)
  }
}

/// An `.xcdatamodel`: a folder with a `contents` file.
struct XcodeModelFolder: ModelReader {
  var form: String { "data model of Xcode (.xcdatamodel)" }

  func recognizes(_ source: ModelSource) -> Bool {
    source.entries.map { $0.contains("contents") || isOld($0) } ?? false
  }

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

  private func isOld(_ entries: [String]) -> Bool { entries.contains("elements") && entries.contains("layout") }
}

/// A mapping model, which is recognised to be refused: it maps models and is none itself.
struct XcodeMappingFile: ModelReader {
  var form: String { "mapping model (.xcmappingmodel)" }

  func recognizes(_ source: ModelSource) -> Bool {
    source.entries?.contains("xcmapping.xml") ?? source.beginsWithElement("database")
  }

  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    throw ModelError(
      .unsupportedForm,
      message: "this is a mapping model, which tells how one model becomes another: name one of the two models instead",
      at: SourceLocation(file: source.name))
  }
}
