import MoonbaseModel
import MoonbasePlatform

/// Collects the validation failures of a save, so that one error reports all of them. Charges their memory, since each
/// object may break many rules.
final class FailureCollector {
  private var failures: [GraphError] = []
  private var memory = HostMemory()
  /// The issues with severity warning.
  private(set) var warnings: [GraphError] = []

  func add(_ failure: GraphError) throws {
    try memory.hold(failure.ownWeight)
    failures.append(failure)
  }

  func warn(_ warning: GraphError) throws {
    try memory.hold(warning.ownWeight)
    warnings.append(warning)
  }

  /// Throws a single failure as it is, and several as one error; returns if there is none.
  func throwFailures(consequence: String = "") throws {
    try GraphError.throwFailures(failures, consequence: consequence)
  }
}
