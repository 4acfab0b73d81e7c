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
  /// The code that the script gave its error; nil where it gave none.
  var codeOfScript: ErrorCode? { get }
}
