import MoonbaseBatch
import MoonbaseTestSupport
import Testing

@Suite struct ChunkSetTests {
  @Test func rangesThatTouchAreOneWhateverTheirOrder() throws {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    for _ in 0..<300 {
      var set = ChunkSet()
      var reference: Set<Int> = []
      for _ in 0..<Int(random.next(30)) {
        let first = 1 + Int(random.next(60))
        let last = first + Int(random.next(5))
        set.insert(first...last)
        reference.formUnion(first...last)
        #expect(set.ranges.flatMap { $0 } == reference.sorted())
        #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
      }
      #expect(set.count == reference.count)
      #expect((0...70).allSatisfy { set.contains($0) == reference.contains($0) })
      #expect(set.rest(of: 50).ranges.flatMap { $0 } == (1...50).filter { !reference.contains($0) })
      #expect(ChunkSet("\(set)") == set)
    }
  }

  @Test(arguments: ["0", "-1", "2-1", "x", "1-", "1-2-3", "1,,2", "٣", "9223372036854775807"]) func whatIsNoSetIsNone(
    _ text: String
  ) {
    #expect(ChunkSet(text) == nil)
  }
}
