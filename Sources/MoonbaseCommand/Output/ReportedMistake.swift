import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting

/// An error in a model or an extension, in the format that commands write with `--json`.
///
/// Editors can show the error at its position. Absent members are left out.
struct ReportedMistake: Encodable {
  /// The message.
  let message: String
  /// The number of the error's code.
  let code: Int
  /// The path of the file with the mistake.
  let file: String?
  /// The line, starting at 1.
  let line: Int?
  /// The entity with the mistake.
  let entity: String?
  /// The property with the mistake.
  let property: String?

  /// Creates the report of an error in a model.
  init(_ error: ModelError) {
    (message, code) = (error.message, error.code.rawValue)
    (file, line) = (error.location?.file, error.location?.line)
    (entity, property) = (error.entity, error.property)
  }

  /// Creates the report of an error in an extension.
  init(_ error: ScriptError) {
    (message, code) = (error.message, error.code.rawValue)
    (file, line) = (error.location?.file, error.location?.line)
    (entity, property) = (error.entity, error.property)
  }
}
