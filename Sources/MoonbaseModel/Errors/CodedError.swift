/// The common interface of errors of models, of the graph and of scripts.
///
/// `ModelError`, `GraphError` and `ScriptError` conform, so that code above them can treat any of
/// them alike.
package protocol CodedError: Error, CustomStringConvertible {
  /// The kind of error.
  var code: ErrorCode { get }
  /// Whether the error is a mistake in the program that receives it.
  var isMistake: Bool { get }
  /// The entity concerned.
  var entity: String? { get }
  /// The property concerned.
  var property: String? { get }
}
