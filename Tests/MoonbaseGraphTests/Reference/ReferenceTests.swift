import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Random sequences of operations on a context, beside a naive model of what objects have.
///
/// What fails is shortened and printed with its seed. `MOONBASE_SEQUENCES` says how many sequences there are for each store
/// (`Repetition.referenceSequences`), `MOONBASE_SEED` which is the first; alone it runs that one only.
@Suite struct ReferenceTests {
  private static let parts = 4
  /// What these found was mended.
  private static let formerFailures: [ReferenceSequence.Origin] = [
    .init(172, of: ReferenceOperation.Kind.earlier), .init(328, of: ReferenceOperation.Kind.earlier),
    .init(2092, of: ReferenceOperation.Kind.earlier),
  ]

  /// Those of a store that a part runs; each store has sequences of its own.
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

  /// The model would not do if it agreed with anything: a context in which one value is other is found.
  @Test func whatDiffersIsFound() throws {
    let replica = try Replica(.memory, seed: 0)
    try replica.changeUnseen()
    try replica.check(isThorough: false)
    #expect(replica.mistakes.contains { $0.contains("#1.name is unseen") })
    replica.mistakes = []
    try replica.check(isThorough: true)
    #expect(replica.mistakes.contains { $0.contains("#1.name is unseen") })
  }

  /// Of fifty operations the two are left after which something differs, and the report says how to run them again.
  @Test(arguments: [0, 1, 3]) func whatFailsIsShortenedToWhatItNeeds(_ start: Int) throws {
    // In some sequences nothing is set before something is related.
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
