import MoonbaseModel
import MoonbaseTestSupport

@testable import MoonbaseGraph

/// A sequence of operations on a context and on the naive model beside it.
struct ReferenceSequence {
  /// The first difference between context and model.
  struct Failure {
    let message: String
    let log: [String]
  }

  /// The seed and the kinds of operations of a sequence.
  struct Origin: Sendable {
    let seed: Int
    let kinds: [ReferenceOperation.Kind]
    var isPlain = false

    init(_ seed: Int, of kinds: [ReferenceOperation.Kind] = ReferenceOperation.Kind.allCases) {
      (self.seed, self.kinds) = (seed, kinds)
    }

    /// A sequence in which objects have plain values and no relationships (`Replica.isPlain`).
    static func plain(_ seed: Int) -> Origin {
      var origin = Origin(seed, of: ReferenceOperation.Kind.plain)
      origin.isPlain = true
      return origin
    }
  }

  let kind: StoreKind
  let seed: Int
  let isPlain: Bool
  var operations: [ReferenceOperation]
  /// After operations of these kinds in this order, a value is changed without the model's knowledge, so that there is
  /// a failure to find.
  var breakage: [ReferenceOperation.Kind] = []

  init(_ kind: StoreKind, _ origin: Origin, count: Int = 50) {
    (self.kind, seed, isPlain) = (kind, origin.seed, origin.isPlain)
    operations = ReferenceOperation.sequence(seed, count: count, of: origin.kinds)
  }

  /// Whether everything is read after each operation, which fires faults and fills lists. The remaining sequences
  /// compare loaded values after each operation, and all values after every third.
  private var readsAll: Bool { seed % 4 == 1 }

  /// Runs the sequence; nil if context and model agree throughout.
  func firstFailure() -> Failure? {
    var replica: Replica?
    do {
      let new = try Replica(kind, seed: seed, isPlain: isPlain)
      replica = new
      var waiting = breakage[...]
      for (index, operation) in operations.enumerated() {
        try new.run(operation)
        if operation.kind == waiting.first, waiting.popFirst() != nil, waiting.isEmpty { try new.changeUnseen() }
        try new.check(isThorough: readsAll || operation.b % 3 == 0 || index == operations.count - 1)
        if !new.mistakes.isEmpty { break }
      }
    } catch {
      replica?.mistakes.append("\(error)")
      if replica == nil { return Failure(message: "\(error)", log: []) }
    }
    guard let replica, !replica.mistakes.isEmpty else { return nil }
    return Failure(message: replica.mistakes.joined(separator: "; "), log: replica.log)
  }

  /// The shortest failing sequence found by leaving operations out.
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

  /// A readable report of the failure; nil if there is none.
  func report() -> String? {
    guard firstFailure() != nil else { return nil }
    let shrunk = shrunk()
    guard let failure = shrunk.firstFailure() else { return "seed \(seed) on \(kind) fails at times" }
    return """
      seed \(seed) on \(kind): \(failure.message)
      after \(shrunk.operations.count) operations:
        \(failure.log.joined(separator: "\n  "))
      which are \(shrunk.operations.map { "\($0.kind) \($0.a) \($0.b) \($0.c)" }.joined(separator: ", "))
      again with MOONBASE_SEED=\(seed)
      """
  }
}
