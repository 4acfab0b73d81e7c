public import MoonbaseModel

extension ManagedObject {
  /// Checks a proposed value of a property against all rules without storing it.
  ///
  /// Throws the failure, or `.multipleErrors` with all of them.
  public final func validate(_ value: Value, forKey key: String) throws {
    let failures = FailureCollector()
    let validator = try ObjectValidator(self, failures: failures)
    try validator.validate(value, slot: slot(of: key))
    try failures.throwFailures()
  }

  /// Checks the object as the next save would.
  ///
  /// Throws the failure, or `.multipleErrors` with all of them.
  public final func validate() throws {
    let failures = FailureCollector()
    let validator = try ObjectValidator(self, failures: failures)
    try validator.validate(for: isDeleted ? .delete : isInserted ? .insert : .update)
    try failures.throwFailures()
  }
}
