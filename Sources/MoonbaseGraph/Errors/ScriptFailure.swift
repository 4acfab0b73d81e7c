package import MoonbaseModel

/// An error of the scripting layer that passes through the graph, which knows nothing of scripts.
package protocol ScriptFailure: Error {
  /// The error of the host that the script did not catch.
  var hostError: (any Error)? { get }
  /// The file and line of the script, as `colors.lua:12`; nil where unknown.
  var place: String? { get }
  /// The name of a hook as the script's language spells it.
  func hookName(_ name: String) -> String
  /// Whether the script's run is over, so that the error must not be treated as an error of data.
  var endsRun: Bool { get }
  /// Whether nested calls exhausted the script's stack.
  var isOutOfStack: Bool { get }
  /// Advice about a name that the script lacks, as a clause; nil where there is none.
  var advice: String? { get }
  /// The code that the script gave its error; nil without a code.
  var codeOfScript: ErrorCode? { get }
  /// The code of the limit or interruption that ended the run; nil where the script ended by itself or still runs.
  var codeOfEnd: ErrorCode? { get }
}

extension GraphError {
  /// Converts the error of an extension whose run was ended by a limit or an interruption.
  ///
  /// Returns nil for any other error, `os.exit` included.
  package init?(endOf error: any Error, in hook: String, entity: String, property: String?, objectID: ManagedObjectID?)
  {
    let script = error as? any ScriptFailure
    guard let code = script?.codeOfEnd ?? (error as? ModelError)?.code, code.endsRun else { return nil }
    let subject = property.map { "\(entity).\($0)" } ?? entity
    self.init(
      code, message: "\(subject): \(script?.hookName(hook) ?? hook): \(error)", entity: entity, property: property,
      objectID: objectID, underlying: error)
    reason = "\(error)"
  }
}
