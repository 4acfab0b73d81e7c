/// A part of a model that has no description of its own to keep its place in a file.
package enum ModelPart: Sendable, Hashable, CustomStringConvertible {
  /// The model as a whole.
  case file
  case fetchRequest(String)
  case configuration(String)

  /// As the messages of errors name it.
  package var description: String {
    switch self {
    case .file: "the model"
    case .fetchRequest(let name): "fetch request \(name)"
    case .configuration(let name): "configuration \(name)"
    }
  }
}
