import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Random sequences of operations on a context, beside a naive model of what objects have.
///
/// What fails is shortened and printed with its seed. `MOONBASE_SEQUENCES` says how many sequences there are for each store,
/// `MOONBASE_SEED` runs one only.
@Suite struct ReferenceTests {
  private static let parts = 4
  /// What these found was mended.
  private static let formerFailures = [172, 328]

  /// Those of a store that a part runs; each store has sequences of its own.
  private static func seeds(_ kind: StoreKind, _ part: Int, of count: Int) -> [Int] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["MOONBASE_SEED"].flatMap({ Int($0) }) { return part == 0 ? [seed] : [] }
    let count = environment["MOONBASE_SEQUENCES"].flatMap { Int($0) } ?? count
    return Array(stride(from: part, to: count, by: parts)) + (part == 0 ? formerFailures.filter { $0 >= count } : [])
  }

  private func expectAgreement(_ kind: StoreKind, _ seeds: [Int]) {
    for seed in seeds {
      if let report = ReferenceSequence(kind, seed: seed).report() { Issue.record("\(report)") }
    }
  }

  @Test(arguments: StoreKind.allCases, 0..<parts)
  func contextsAgreeWithTheNaiveModel(_ kind: StoreKind, _ part: Int) {
    expectAgreement(kind, Self.seeds(kind, part, of: 120))
  }

  @Test func contextsAgreeOverAStoreOfSomebodyElse() { expectAgreement(.folder, Self.seeds(.folder, 0, of: 120)) }

  /// The model would not do if it agreed with anything: a context in which one value is other is found, and the sequence shortened.
  @Test func whatDiffersIsFoundAndShortened() throws {
    let replica = try Replica(.memory, seed: 0)
    try replica.objects[1]?.setValue("unseen", forKey: "name")
    try replica.check(isThorough: true)
    #expect(replica.mistakes.contains { $0.contains("#1.name is unseen") })
  }
}
