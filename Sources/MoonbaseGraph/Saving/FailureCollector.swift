import MoonbaseModel
import MoonbasePlatform

/// Collects the validation failures of a save, so that one error reports all of them. Charges their memory, since each
/// object may break many rules.
///
/// Made for each round of validation. Warnings are collected separately.
final class FailureCollector {
  /// The failures in order.
  private var failures: [GraphError] = []
  /// Charges the kept errors.
  private var memory = HostMemory()
  /// The issues with severity warning.
  private(set) var warnings: [GraphError] = []

  /// Throws at the memory limit of a script.
  func add(_ failure: GraphError) throws {
    try memory.hold(failure.ownWeight)
    failures.append(failure)
  }

  /// Throws at the memory limit of a script.
  func warn(_ warning: GraphError) throws {
    try memory.hold(warning.ownWeight)
    warnings.append(warning)
  }

  /// Throws a single failure as it is, and several as one error; returns if there is none. `consequence` is appended to
  /// the message, such as "; nothing was saved".
  func throwFailures(consequence: String = "") throws {
    try GraphError.throwFailures(failures, consequence: consequence)
  }
}
