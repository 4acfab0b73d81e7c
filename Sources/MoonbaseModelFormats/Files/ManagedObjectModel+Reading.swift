public import MoonbaseModel

extension ManagedObjectModel {
  /// The readers of the forms that need nothing but this module: Xcode's models and compiled ones.
  public static let readers: [any ModelReader] = [
    XcodeModelFile(), XcodeModelFolder(), XcodeVersionedModel(), CompiledModelFile(), CompiledModelFolder(),
    OptimizedModelFile(), XcodeMappingFile(),
  ]

  /// Reads a model with the first reader that recognizes it.
  ///
  /// Throws `ModelError`: `.cannotOpenFile`, `.unsupportedForm` where no reader knows the form, `.malformedFile` and
  /// `.invalidModel` from the reader.
  public static func read(_ source: ModelSource, readers: [any ModelReader] = readers) throws(ModelError) -> Self {
    guard let reader = readers.first(where: { $0.recognizes(source) }) else {
      if source.entries?.isEmpty ?? (source.head.isEmpty && source.entries == nil) {
        let what = source.entries == nil ? "the file" : "the folder"
        throw ModelError(
          .malformedFile, message: "\(what) is empty, so there is no model in it", at: SourceLocation(file: source.name)
        )
      }
      let forms = (readers.filter(\.readsModels).map(\.form) + ["SQLite store"]).joined(separator: ", ")
      throw ModelError(
        .unsupportedForm, message: "this is no model in a form that is known here: \(forms)",
        at: SourceLocation(file: source.name))
    }
    return try reader.read(source)
  }
}

extension ModelReader {
  /// Whether models can be read with this; there are forms that are recognized to be refused with advice.
  fileprivate var readsModels: Bool { !(self is OptimizedModelFile || self is XcodeMappingFile) }
}
