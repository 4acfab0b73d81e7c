import MoonbaseModel
import MoonbasePlatform

/// What is wrong with the objects of a save, collected so that all is told at once; weighed, since each object may break many
/// rules.
final class FailureCollector {
  private var failures: [GraphError] = []
  private var memory = HostMemory()
  /// What rules only warn of.
  private(set) var warnings: [GraphError] = []

  func add(_ failure: GraphError) throws {
    try memory.hold(failure.ownWeight)
    failures.append(failure)
  }

  func warn(_ warning: GraphError) throws {
    try memory.hold(warning.ownWeight)
    warnings.append(warning)
  }

  /// Throws one failure as it is and several as one error; without any nothing is thrown.
  func throwFailures(consequence: String = "") throws {
    try GraphError.throwFailures(failures, consequence: consequence)
  }
}
