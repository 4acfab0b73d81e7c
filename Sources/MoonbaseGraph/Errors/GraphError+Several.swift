import MoonbaseModel

extension GraphError {
  /// Throws a single failure unchanged, and several failures as one `.multipleErrors`.
  static func throwFailures(_ failures: [GraphError], consequence: String) throws {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first.causedElsewhere }
    throw GraphError(
      .multipleErrors, message: "\(failures.count) validation failures\(consequence)", entity: first.entity,
      details: failures)
  }
}
