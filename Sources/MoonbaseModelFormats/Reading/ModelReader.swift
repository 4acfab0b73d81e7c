public import MoonbaseModel

/// A reader of models in one format. The first reader of a list that recognises a source reads it.
///
/// ```swift
/// struct NotesReader: ModelReader {
///   var form: String { "model of Notes" }
///   func recognizes(_ source: ModelSource) -> Bool { source.head.starts(with: "NOTES".utf8) }
///   func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel { ... }
/// }
/// let model = try ManagedObjectModel.read(source, readers: ManagedObjectModel.readers + [NotesReader()])
/// ```
public protocol ModelReader: Sendable {
  /// The name of the format in messages, for example `compiled model`.
  var form: String { get }

  /// Whether the source has this format, judged by its contents and not by its name.
  func recognizes(_ source: ModelSource) -> Bool

  /// Reads the model; in a format with several versions, the current one.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel
}
