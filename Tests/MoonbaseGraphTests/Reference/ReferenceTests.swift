import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Random sequences of operations on a context, compared with a naive model of the objects' values.
///
/// A failing sequence is shortened and printed with its seed. `MOONBASE_SEQUENCES` sets the number of sequences per
/// store (`Repetition.referenceSequences`), `MOONBASE_SEED` the first seed; without the former, only that seed runs.
@Suite struct ReferenceTests {
  private static let parts = 4
  /// Sequences that once failed; their defects are fixed.
  private static let formerFailures: [ReferenceSequence.Origin] = [
    .init(172, of: ReferenceOperation.Kind.earlier), .init(328, of: ReferenceOperation.Kind.earlier),
    .init(2092, of: ReferenceOperation.Kind.earlier),
  ]

  /// The sequences of a store that one part runs; each store has sequences of its own.
  private static func origins(_ part: Int) -> [ReferenceSequence.Origin] {
    let start = TestLength.firstSeed ?? 0
    let seeds = stride(from: start + part, to: start + Repetition.referenceSequences.seeds, by: parts)
    return (part == 0 && start == 0 ? formerFailures : []) + seeds.map { ReferenceSequence.Origin($0) }
  }

  private func expectAgreement(_ kind: StoreKind, _ origins: [ReferenceSequence.Origin]) {
    for origin in origins {
      if let report = ReferenceSequence(kind, origin).report() { Issue.record("\(report)") }
    }
  }

  @Test(arguments: StoreKind.allCases, 0..<parts)
  func contextsAgreeWithTheNaiveModel(_ kind: StoreKind, _ part: Int) {
    expectAgreement(kind, Self.origins(part))
  }

  @Test(arguments: StoreKind.allCases) func plainValuesAgreeWithTheNaiveModel(_ kind: StoreKind) {
    let start = TestLength.firstSeed ?? 0
    expectAgreement(kind, (start..<start + Repetition.plainSequences.seeds).map { .plain($0) })
  }

  @Test func contextsAgreeOverAStoreOfSomebodyElse() { expectAgreement(.folder, Self.origins(0)) }

  /// Checks that the comparison can fail: a changed value is found.
  @Test func whatDiffersIsFound() throws {
    let replica = try Replica(.memory, seed: 0)
    try replica.changeUnseen()
    try replica.check(isThorough: false)
    #expect(replica.mistakes.contains { $0.contains("#1.name is unseen") })
    replica.mistakes = []
    try replica.check(isThorough: true)
    #expect(replica.mistakes.contains { $0.contains("#1.name is unseen") })
  }

  /// A failing sequence of fifty operations shrinks to the two that matter, and the report tells how to run it again.
  @Test(arguments: [0, 1, 3]) func whatFailsIsShortenedToWhatItNeeds(_ start: Int) throws {
    // Some sequences never set a value before they relate objects.
    var (seed, sequence) = (start, ReferenceSequence(.memory, .init(start)))
    while !sequence.operations.drop(while: { $0.kind != .set }).contains(where: { $0.kind == .relate }) {
      seed += 4
      sequence = ReferenceSequence(.memory, .init(seed))
    }
    #expect(sequence.operations.count == 50 && sequence.report() == nil)
    sequence.breakage = [.set, .relate]
    #expect(sequence.firstFailure() != nil)
    let shrunk = sequence.shrunk()
    #expect(shrunk.operations.map(\.kind) == [.set, .relate])
    #expect(shrunk.firstFailure()?.message.contains("name is unseen") == true)
    let report = try #require(sequence.report())
    #expect(report.contains("after 2 operations") && report.contains("MOONBASE_SEED=\(seed)"))
    #expect(report.contains("which are set ") && report.contains("name is another one"))
  }
}
