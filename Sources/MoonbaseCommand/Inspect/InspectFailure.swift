import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// An error in the form that the page expects. It has a message, and a separate message for each invalid field.
struct InspectFailure {
  private let status: Int
  private let message: String
  private var problems: [InspectJSON] = []
  private let state: InspectJSON

  init(_ error: any Error, in session: InspectSession) {
    state = session.state
    switch error {
    case let refusal as InspectRefusal: (status, message) = (refusal.status, refusal.message)
    case let error as GraphError:
      message = error.message
      status = Self.status(of: error.code)
      problems = Self.problems(of: error, in: session)
    default: (status, message) = (error is any CodedError ? 400 : 500, Self.message(of: error))
    }
  }

  /// The message of an error without redundant text.
  static func message(of error: any Error) -> String {
    switch error {
    case let refusal as InspectRefusal: refusal.message
    case let error as GraphError: error.message
    case let error as ModelError: error.message
    case let error as ScriptError: error.message
    default: "\(error)"
    }
  }

  private static func status(of code: ErrorCode) -> Int {
    switch code {
    case .storeBusy: 503
    case .storeFailure, .invalidStore, .cannotOpenFile, .incompatibleSchema: 500
    case _ where code.isValidation || code == .mergeConflict || code == .extensionFailure: 422
    default: 400
    }
  }

  var response: HTTPResponse {
    .json(["error": .string(message), "problems": .array(problems), "page": state], status: status)
  }

  /// The separate failures in the error of a save or of an object.
  static func problems(of error: GraphError, in session: InspectSession) -> [InspectJSON] {
    let all = error.details.isEmpty ? [error] : error.details
    return all.prefix(200).filter { $0.property != nil || $0.objectID != nil }.map { failure in
      [
        "id": .text(failure.objectID.map(session.name)), "entity": .text(failure.entity),
        "property": .text(failure.property), "message": .string(failure.reason ?? failure.message),
        "conflict": .bool(failure.code == .mergeConflict),
      ]
    }
  }
}
