public import MoonbaseModel

/// Validation at any time, without a save.
extension ManagedObject {
  /// Checks a proposed value of a property against all rules without storing the value.
  ///
  /// Returns the issues with severity warning. Throws the failure, or `.multipleErrors` with all failures. For example,
  /// `try person.validate(-1, forKey: "age")` throws `.numberTooSmall` if the model has a minimum of 0. Unknown keys
  /// throw `.unknownName`.
  @discardableResult
  public final func validate(_ value: Value, forKey key: String) throws -> [GraphError] {
    let failures = FailureCollector()
    let validator = try ObjectValidator(self, failures: failures)
    try validator.validate(value, slot: slot(of: key))
    try failures.throwFailures()
    return failures.warnings
  }

  /// Checks the object as the next save would.
  ///
  /// Returns the issues with severity warning. Throws the failure, or `.multipleErrors` with all failures. Rules that
  /// normalize a value change the object.
  @discardableResult
  public final func validate() throws -> [GraphError] {
    let failures = FailureCollector()
    var validator = try ObjectValidator(self, failures: failures)
    try validator.validate(for: isDeleted ? .delete : isInserted ? .insert : .update)
    try failures.throwFailures()
    return failures.warnings
  }

  /// Checks a saved object as if it were new. Throws the failure, or `.multipleErrors` with all failures. Used when
  /// objects are copied or imported.
  package final func validateAsNew() throws {
    let failures = FailureCollector()
    var validator = try ObjectValidator(self, failures: failures)
    try validator.validate(for: .insert, isSaved: true)
    try failures.throwFailures()
  }
}
