public import MoonbaseModel

extension ManagedObject {
  /// Checks a proposed value of a property against all rules without storing it.
  ///
  /// Throws the failure, or `.multipleErrors` with all of them.
  public final func validate(_ value: Value, forKey key: String) throws {
    var validator = try ObjectValidator(self)
    let slot = try slot(of: key)
    try GraphError.throwFailures(validator.validate(value, slot: slot), consequence: "")
  }

  /// Checks the object as the next save would.
  ///
  /// Throws the failure, or `.multipleErrors` with all of them.
  public final func validate() throws {
    var validator = try ObjectValidator(self)
    try GraphError.throwFailures(
      validator.validate(for: isDeleted ? .delete : isInserted ? .insert : .update), consequence: "")
  }
}
