import Foundation

/// One row of the table: the same work done by a plain C program and by Moonbase.
struct Benchmark {
  /// The word that `--only` takes.
  let name: String
  let title: String
  let goal: Goal
  /// How much memory a program that it starts may hold, in bytes.
  var greatestMemory: Int64?
  /// Whether it runs only where it is named.
  var isByNameOnly = false
  /// Brings both sides to the same start before each round; it is not timed.
  var prepare: (Workplace) throws -> Void = { _ in }
  let yardstick: (Workplace) throws -> Answer
  let subject: (Workplace) throws -> Answer
  /// Looks at what a side left behind, untimed; both sides must leave the same.
  var inspect: (Workplace, Side) throws -> Answer = { _, _ in .none }
}

/// The greatest ratio to the yardstick that is good enough (ARCHITECTURE, "Figures the design must reach").
enum Goal {
  case ratio(Double)
  /// More is asked for where a second core can help.
  case oneCore(Double, twoCores: Double)
  /// The row is of interest, and nothing is asked of it.
  case none

  /// The ratio that holds on this machine, as far as the process may use it (`taskset`).
  var ratio: Double? {
    switch self {
    case .ratio(let ratio): ratio
    case .oneCore(let one, let two): ProcessInfo.processInfo.activeProcessorCount > 1 ? two : one
    case .none: nil
    }
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
