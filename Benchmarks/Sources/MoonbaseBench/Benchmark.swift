import Foundation

/// A row of the table: work done by a plain C program and by Moonbase.
struct Benchmark {
  /// The name for `--only`.
  let name: String
  let title: String
  let goal: Goal
  /// The maximum memory of a started program, in bytes.
  var greatestMemory: Int64?
  /// Whether the row runs only if it is named.
  var isByNameOnly = false
  /// Brings both sides to the same state before each round, untimed.
  var prepare: (Workplace) throws -> Void = { _ in }
  let yardstick: (Workplace) throws -> Answer
  let subject: (Workplace) throws -> Answer
  /// Inspects the result of a side, untimed; both sides must give the same answer.
  var inspect: (Workplace, Side) throws -> Answer = { _, _ in .none }
}

/// The greatest acceptable ratio to the yardstick.
enum Goal {
  case ratio(Double)
  /// A stricter goal where a second core can help.
  case oneCore(Double, twoCores: Double)
  /// The row has no goal.
  case none

  /// The goal for this machine, given the cores that the process may use (`taskset`).
  var ratio: Double? {
    switch self {
    case .ratio(let ratio): ratio
    case .oneCore(let one, let two): ProcessInfo.processInfo.activeProcessorCount > 1 ? two : one
    case .none: nil
    }
  }
}

/// The result of a side. A time counts only if both sides gave the same answer.
enum Answer: Equatable {
  case none
  case number(Int64)
}

/// The two columns of the table.
enum Side: String, CaseIterable {
  case yardstick
  case subject
}

/// The reason why a benchmark has no figure.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
