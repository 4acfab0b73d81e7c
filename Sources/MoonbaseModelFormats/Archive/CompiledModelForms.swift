import MoonbaseModel
import MoonbasePlatform

/// A compiled model, `.mom`: the keyed archive of a managed object model.
struct CompiledModelFile: ModelReader {
  /// The name of the format in messages.
  var form: String { "compiled model (.mom)" }

  /// Whether the file is a binary property list.
  func recognizes(_ source: ModelSource) -> Bool { PropertyList.isBinary(source.head) }

  /// Reads the archive. Errors get the location of the file.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    do {
      var model = try ManagedObjectModel(archive: try source.data())
      model.locations[.file] = SourceLocation(file: source.name)
      return model
    } catch {
      throw ModelError(
        error.code, message: error.message, at: SourceLocation(file: source.name), entity: error.entity,
        property: error.property)
    }
  }
}

/// The optimized format beside a compiled model, `.omo`. It is undocumented, and the `.mom` contains the same model.
struct OptimizedModelFile: ModelReader {
  /// The name of the format in messages.
  var form: String { "optimized model (.omo)" }

  /// Whether the file begins with the mark `momv2$`.
  func recognizes(_ source: ModelSource) -> Bool { source.head.starts(with: "momv2$".utf8) }

  /// Throws `.unsupportedForm`, with the advice to open the `.mom`.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel {
    throw ModelError(
      .unsupportedForm, message: "an optimized model cannot be read: open the .mom beside it instead",
      at: SourceLocation(file: source.name))
  }
}
