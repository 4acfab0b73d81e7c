import MoonbaseModel

/// The position of a reader in a model, for its errors.
struct ReadingContext {
  var file: String
  var entity: String?
  var property: String?
  /// The element being read, for example `entity Person, attribute age`.
  var subject: String

  func error(_ message: String, line: Int?) -> ModelError {
    ModelError(
      .invalidModel, message: "\(subject): \(message)", at: SourceLocation(file: file, line: line), entity: entity,
      property: property)
  }

  func location(_ line: Int?) -> SourceLocation { SourceLocation(file: file, line: line) }

  func entity(_ name: String) -> Self { Self(file: file, entity: name, subject: "entity \(name)") }

  func property(_ kind: String, name: String) -> Self {
    Self(file: file, entity: entity, property: name, subject: "\(subject), \(kind) \(name)")
  }

  func part(_ kind: String) -> Self {
    Self(file: file, entity: entity, property: property, subject: "\(subject), \(kind)")
  }
}
