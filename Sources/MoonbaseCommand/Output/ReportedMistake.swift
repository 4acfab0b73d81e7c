import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting

/// An error in a model or an extension, in the format that commands write with `--json`.
struct ReportedMistake: Encodable {
  let message: String
  let code: Int
  let file: String?
  let line: Int?
  let entity: String?
  let property: String?

  init(_ error: ModelError) {
    (message, code) = (error.message, error.code.rawValue)
    (file, line) = (error.location?.file, error.location?.line)
    (entity, property) = (error.entity, error.property)
  }

  init(_ error: ScriptError) {
    (message, code) = (error.message, error.code.rawValue)
    (file, line) = (error.location?.file, error.location?.line)
    (entity, property) = (error.entity, error.property)
  }
}
