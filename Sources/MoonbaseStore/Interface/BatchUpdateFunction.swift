public import MoonbaseModel
package import MoonbasePlatform

/// The new value of an attribute in a batch update, as a function over attributes of the row before the update.
///
/// ```swift
/// var request = BatchUpdateRequest("Book")
/// request.functionsToUpdate["title"] = BatchUpdateFunction(as: String?.self) { title in title?.capitalized }
/// request.functionsToUpdate["label"] = BatchUpdateFunction(of: "title", "pages") { .string("\($0[0]), \($0[1])") }
/// try context.execute(request)
/// ```
///
/// The function must depend only on its arguments: it may be called several times for a row, and using a context or
/// store while it runs throws `.contextBusy`.
public final class BatchUpdateFunction: Sendable {
  /// Receives the values of the attributes, which are valid until it returns, and passes the result to the closure.
  package typealias Body = (UnsafeBufferPointer<Snapshot.Cell>, (Snapshot.Cell) throws -> Void) throws -> Void

  /// The names of the attributes that the function reads; empty for the attribute that it sets.
  public let inputs: [String]
  package nonisolated(unsafe) let body: Body  // a script's function stays on the script's thread
  package nonisolated(unsafe) let plain: Plain?  // a script's function stays on the script's thread

  /// Makes a function of the values of attributes, in the order of their names.
  public init(of inputs: String..., body: @escaping @Sendable ([Value]) throws -> Value) {
    self.inputs = inputs
    self.body = { cells, take in try take(.value(body(cells.map(\.asValue)))) }
    plain = nil
  }

  /// Makes a function of the attribute's previous value.
  public init(_ body: @escaping @Sendable (Value) throws -> Value) {
    (inputs, plain) = ([], nil)
    self.body = { cells, take in try take(.value(body(cells[0].asValue))) }
  }

  /// A faster form of a script's function that a store may call for each row. If it has no result, or a check fails,
  /// the store calls the function itself, which reports errors.
  package struct Plain {
    /// The function for a row.
    package let call: RowCall
    /// The number of inputs, from the first.
    package let inputCount: Int
    /// Checks inputs and result; nil if there is nothing to check.
    package var check: ((UnsafeBufferPointer<Snapshot.Cell>, Snapshot.Cell) -> Bool)?

    /// Makes the form of a function with `inputCount` inputs.
    package init(_ call: RowCall, inputCount: Int) { (self.call, self.inputCount) = (call, inputCount) }
  }

  /// Makes the function of a script, confined to the script's thread.
  package init(of inputs: [String], ofScript body: @escaping Body, plain: Plain? = nil) {
    self.inputs = inputs
    self.body = body
    self.plain = plain
  }
}
