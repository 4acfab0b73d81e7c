extension Predicate {
  /// Checks the predicate against an entity, and returns it with literals in the types of the attributes that they are
  /// compared with: ISO 8601 text beside a date becomes a date, text beside a UUID a UUID, a number beside a decimal a decimal.
  ///
  /// Throws `.predicateMismatch` for unknown keys (with the nearest right name), a to-many key without a quantifier, and
  /// comparisons that cannot hold. Variables without a value pass.
  public func checked(against entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) -> Predicate {
    var checker = PredicateChecker(entity: entity, model: model)
    return try checker.check(self)
  }
}
