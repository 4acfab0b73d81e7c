/// What the errors of models, of the graph and of scripts have in common.
package protocol CodedError: Error, CustomStringConvertible {
  /// The kind of error.
  var code: ErrorCode { get }
  /// Whether it is a mistake of the program that got it.
  var isMistake: Bool { get }
  /// The entity concerned.
  var entity: String? { get }
  /// The property concerned.
  var property: String? { get }
}
