package import MoonbaseModel

/// An error of a scripting layer on its way through the graph, which knows no script.
package protocol ScriptFailure: Error {
  /// The error of the host that the script let through.
  var hostError: (any Error)? { get }
  /// The file and line of the script, as `colors.lua:12`; nil where it is not known.
  var place: String? { get }
  /// How the script's language spells a hook.
  func hookName(_ name: String) -> String
  /// Whether the run is over, so that the error must not be taken for one of data.
  var endsRun: Bool { get }
  /// Whether calls within calls took all of the script's stack.
  var isOutOfStack: Bool { get }
  /// The advice for a name that the script lacks, as a clause; nil where there is none.
  var advice: String? { get }
  /// The code that the script gave its error; nil where it gave none.
  var codeOfScript: ErrorCode? { get }
  /// The code of a run that a limit or an interruption ended; nil where the script ended itself, or goes on.
  var codeOfEnd: ErrorCode? { get }
}

extension GraphError {
  /// Makes an error of the graph of the error of an extension whose run a limit or an interruption ended. Nil for any
  /// other error, `os.exit` included.
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
