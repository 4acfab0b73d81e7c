import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting

/// The classification of errors during an import.
///
/// An import continues after errors of rows and ends with all others: a store that cannot be
/// written, a run that must end, a mistake in the program.
enum ImportFailure {
  /// Whether the error concerns a row, and neither the store as a whole nor the end of the run.
  ///
  /// Errors with a code decide by `isOfStore` and `endsRun`; errors of scripts are of rows unless
  /// they end all scripts.
  static func isOfRows(_ error: any Error) -> Bool {
    switch error {
    case is RowFault: true
    case is GraphError, is ScriptError, is ModelError:
      (error as? any CodedError).map { !$0.code.isOfStore && !$0.code.endsRun } ?? false
    case let error as LuaError: !ObjectFunction.endsAll(error) && !ObjectFunction.isOfProgram(error)
    default: false
    }
  }

  /// The error as recorded in a reject file.
  ///
  /// The reason is shortened to the length of `TextLimits`.
  static func fault(of error: any Error) -> RowFault {
    if let fault = error as? RowFault { return fault }
    let errors = details(of: error)
    return errors.isEmpty ? RowFault(reason: TextLimits.reason("\(error)")) : fault(of: errors)
  }

  /// The combined failures of an object.
  ///
  /// The column and the value are those of the first failure; the messages are joined.
  static func fault(of errors: [GraphError]) -> RowFault {
    RowFault(
      column: errors.first?.property, value: errors.first?.value?.beginning,
      reason: TextLimits.reason(errors.map(\.message).joined(separator: "; ")))
  }

  /// The separate failures of an error.
  ///
  /// Empty for errors that are no `GraphError`.
  static func details(of error: any Error) -> [GraphError] {
    guard let error = error as? GraphError else { return [] }
    return error.details.isEmpty ? [error] : error.details
  }
}
