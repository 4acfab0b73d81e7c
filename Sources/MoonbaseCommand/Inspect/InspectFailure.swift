import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// An error in the form that the page expects. It has a message, and a separate message for each invalid field.
///
/// The page shows the message at the top, and each problem beside the field of its property.
struct InspectFailure {
  /// The HTTP status of the response.
  private let status: Int
  /// The message at the top of the page.
  private let message: String
  /// The separate failures as JSON.
  private var problems: [InspectJSON] = []
  /// The number of unsaved changes and the undo steps, which the page shows after a failure too.
  private let state: InspectJSON

  /// Converts an error, and notes the state of the session.
  ///
  /// - Parameters:
  ///   - error: The error that ended a request.
  ///   - session: The session, on whose thread this is called.
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
  ///
  /// The description of an error also has its code and its entity, which the page shows elsewhere.
  static func message(of error: any Error) -> String {
    switch error {
    case let refusal as InspectRefusal: refusal.message
    case let error as GraphError: error.message
    case let error as ModelError: error.message
    case let error as ScriptError: error.message
    default: "\(error)"
    }
  }

  /// The HTTP status for the code of an error: 503 for a busy store, 500 for a damaged one, 422 for
  /// rejected data, and 400 otherwise.
  private static func status(of code: ErrorCode) -> Int {
    switch code {
    case .storeBusy: 503
    case .storeFailure, .invalidStore, .cannotOpenFile, .incompatibleSchema: 500
    case _ where code.isValidation || code == .mergeConflict || code == .extensionFailure: 422
    default: 400
    }
  }

  /// The response with the message, the problems and the state.
  var response: HTTPResponse {
    .json(["error": .string(message), "problems": .array(problems), "page": state], status: status)
  }

  /// The separate failures in the error of a save or of an object.
  ///
  /// At most 200 failures are listed. Failures without an object and without a property are only
  /// part of the message.
  ///
  /// - Parameters:
  ///   - error: The error, whose details are the separate failures.
  ///   - session: The session that names the objects.
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
