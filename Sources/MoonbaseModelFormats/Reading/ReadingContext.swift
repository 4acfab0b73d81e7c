import MoonbaseModel

/// The position of a reader in a model, for its errors.
///
/// A reader passes a context down to each part. `entity(_:)`, `property(_:name:)` and `part(_:)`
/// make the contexts of parts.
struct ReadingContext {
  /// The name of the file.
  var file: String
  /// The entity being read; nil outside of entities.
  var entity: String?
  /// The property being read; nil outside of properties.
  var property: String?
  /// The element being read, for example `entity Person, attribute age`.
  var subject: String

  /// An error with code `.invalidModel`, whose message begins with the subject.
  func error(_ message: String, line: Int?) -> ModelError {
    ModelError(
      .invalidModel, message: "\(subject): \(message)", at: SourceLocation(file: file, line: line), entity: entity,
      property: property)
  }

  /// A location in the file.
  func location(_ line: Int?) -> SourceLocation { SourceLocation(file: file, line: line) }

  /// The context of an entity.
  func entity(_ name: String) -> Self { Self(file: file, entity: name, subject: "entity \(name)") }

  /// The context of a property; `kind` is a word such as `attribute`.
  func property(_ kind: String, name: String) -> Self {
    Self(file: file, entity: entity, property: name, subject: "\(subject), \(kind) \(name)")
  }

  /// The context of a part, as an index or the user info.
  func part(_ kind: String) -> Self {
    Self(file: file, entity: entity, property: property, subject: "\(subject), \(kind)")
  }
}
