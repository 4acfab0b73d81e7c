/// The common interface of errors of models, of the graph and of scripts.
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
