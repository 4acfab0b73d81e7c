/// One row of the table: the same work done by a plain C program and by Moonbase.
struct Benchmark {
  /// The word that `--only` takes.
  let name: String
  let title: String
  /// The greatest ratio that is good enough (ARCHITECTURE, "Figures the design must reach").
  let goal: Double
  /// Brings both sides to the same start before each round; it is not timed.
  var prepare: (Workplace) throws -> Void = { _ in }
  let yardstick: (Workplace) throws -> Answer
  let subject: (Workplace) throws -> Answer
  /// Looks at what a side left behind, untimed; both sides must leave the same.
  var inspect: (Workplace, Side) throws -> Answer = { _, _ in .none }
  /// For work that has no peer in C: the seconds that each operation may take. They stand for the yardstick's time.
  var allowed: Double?
  /// How many operations the subject does in a round.
  var operations = 1
}

extension Benchmark {
  /// A row whose goal is a time, not a ratio.
  init(
    name: String, title: String, allowed: Double, operations: Int,
    prepare: @escaping (Workplace) throws -> Void = { _ in }, subject: @escaping (Workplace) throws -> Answer
  ) {
    self.init(
      name: name, title: title, goal: 1, prepare: prepare, yardstick: { _ in .none }, subject: subject,
      allowed: allowed, operations: operations)
  }
}

/// What a side computed. A time counts only if both sides gave the same answer.
enum Answer: Equatable {
  case none
  case number(Int64)
}

/// The two columns of the table.
enum Side: String, CaseIterable {
  case yardstick
  case subject
}

/// Why a benchmark has no figure.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
