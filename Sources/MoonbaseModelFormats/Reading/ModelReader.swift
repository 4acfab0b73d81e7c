public import MoonbaseModel

/// Reads models of one form. The first reader of a list that recognizes a source reads it.
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
  /// What the form is called in messages, for example `compiled model`.
  var form: String { get }

  /// Whether the source is of this form, judged by its contents and not by its name.
  func recognizes(_ source: ModelSource) -> Bool

  /// Reads the model; of a form that holds several versions, the current one.
  func read(_ source: ModelSource) throws(ModelError) -> ManagedObjectModel
}
