import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// A sequence of operations on a context and on the naive model beside it.
struct ReferenceSequence {
  /// Where context and model first differ.
  struct Failure {
    let message: String
    let log: [String]
  }

  let kind: StoreKind
  let seed: Int
  var operations: [ReferenceOperation]

  init(_ kind: StoreKind, seed: Int, count: Int = 50) {
    (self.kind, self.seed) = (kind, seed)
    operations = ReferenceOperation.sequence(seed, count: count)
  }

  /// Runs it; nil where context and model agree from its beginning to its end.
  func firstFailure() -> Failure? {
    var replica: Replica?
    do {
      let new = try Replica(kind, seed: seed)
      replica = new
      for (index, operation) in operations.enumerated() {
        try new.run(operation)
        try new.check(isThorough: operation.b % 3 == 0 || index == operations.count - 1)
        if !new.mistakes.isEmpty { break }
      }
    } catch {
      replica?.mistakes.append("\(error)")
      if replica == nil { return Failure(message: "\(error)", log: []) }
    }
    guard let replica, !replica.mistakes.isEmpty else { return nil }
    return Failure(message: replica.mistakes.joined(separator: "; "), log: replica.log)
  }

  /// The shortest sequence that could be found which fails too, by leaving operations out.
  func shrunk() -> ReferenceSequence {
    var best = self
    var stretch = max(1, operations.count / 2)
    while true {
      var start = 0
      var isShorter = false
      while start < best.operations.count {
        var shorter = best
        shorter.operations.removeSubrange(start..<min(start + stretch, best.operations.count))
        if shorter.firstFailure() != nil {
          (best, isShorter) = (shorter, true)
        } else {
          start += stretch
        }
      }
      if stretch > 1 { stretch /= 2 } else if !isShorter { return best }
    }
  }

  /// What a person needs to see of a failure; nil where there is none.
  func report() -> String? {
    guard firstFailure() != nil else { return nil }
    let shrunk = shrunk()
    guard let failure = shrunk.firstFailure() else { return "seed \(seed) on \(kind) fails at times" }
    return """
      seed \(seed) on \(kind): \(failure.message)
      after \(shrunk.operations.count) operations:
        \(failure.log.joined(separator: "\n  "))
      again with MOONBASE_SEED=\(seed)
      """
  }
}
