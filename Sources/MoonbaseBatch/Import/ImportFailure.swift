import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting

/// What an error means for an import.
enum ImportFailure {
  /// Errors of the store or of the run: there is no row that could be blamed.
  private static let endings: Set<ErrorCode> = [
    .storeFailure, .storeBusy, .readOnlyStore, .limitExceeded, .interrupted, .invalidStore, .cannotOpenFile,
    .incompatibleSchema,
  ]

  static func isOfRows(_ error: any Error) -> Bool {
    switch error {
    case is RowFault: true
    case let error as GraphError: !endings.contains(error.code)
    case let error as ScriptError: !endings.contains(error.code)
    case let error as ModelError: !endings.contains(error.code)
    case let error as LuaError: !ObjectFunction.endsAll(error)
    default: false
    }
  }

  /// The error as a reject file says it.
  static func fault(of error: any Error) -> RowFault {
    if let fault = error as? RowFault { return fault }
    let errors = details(of: error)
    return errors.isEmpty ? RowFault(reason: "\(error)") : fault(of: errors)
  }

  /// Several failures of one object.
  static func fault(of errors: [GraphError]) -> RowFault {
    RowFault(
      column: errors.first?.property, value: errors.first?.value?.beginning,
      reason: errors.map(\.message).joined(separator: "; "))
  }

  /// The single failures of an error.
  static func details(of error: any Error) -> [GraphError] {
    guard let error = error as? GraphError else { return [] }
    return error.details.isEmpty ? [error] : error.details
  }
}
