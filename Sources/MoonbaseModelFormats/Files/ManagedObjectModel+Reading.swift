public import MoonbaseModel

extension ManagedObjectModel {
  /// The readers of Xcode's and compiled models, which need only this module.
  ///
  /// The order matters only where two readers recognise the same source. The readers of Lua models
  /// are added by `Moonbase`, which knows scripts too.
  public static let readers: [any ModelReader] = [
    XcodeModelFile(), XcodeModelFolder(), XcodeVersionedModel(), CompiledModelFile(), CompiledModelFolder(),
    OptimizedModelFile(), XcodeMappingFile(),
  ]

  /// Reads a model with the first reader that recognises the source.
  ///
  /// Throws `ModelError`: `.cannotOpenFile`, `.unsupportedForm` if no reader recognises the source, `.malformedFile`
  /// and `.invalidModel` from the reader.
  ///
  /// - Parameters:
  ///   - source: The file or folder.
  ///   - readers: The readers to ask, in order.
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
  /// Whether the reader reads models. Some formats are recognised only to be refused with advice.
  fileprivate var readsModels: Bool { !(self is OptimizedModelFile || self is XcodeMappingFile) }
}
