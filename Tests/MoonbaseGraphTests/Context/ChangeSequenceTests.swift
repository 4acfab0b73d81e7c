import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The journal stores its changes in chunks that behave as one sequence.
@Suite struct ChangeSequenceTests {
  private let context = try! StoreBench(.memory).context()

  private func change(_ position: Int) throws -> Change {
    try Change(object: context.insert("Person"), former: .presence([], position: position))
  }

  private func positions(_ changes: some Sequence<Change>) -> [Int] {
    changes.compactMap { if case .presence(_, let position) = $0.former { position } else { nil } }
  }

  @Test func aSequenceIsAnArrayWhateverIsTakenOut() throws {
    let change = try change(0)
    var (changes, wanted) = (ChangeSequence(), [Int]())
    var random = SplitMix(7)
    for round in 0..<60 {
      for _ in 0..<random.next(700) {
        changes.append(Change(object: change.object, former: .presence([], position: wanted.count + round)))
        wanted.append(wanted.count + round)
      }
      // Truncates around the boundaries of chunks too.
      let count = round % 3 == 0 ? min(wanted.count, 512 * random.next(4)) : random.next(wanted.count + 1)
      let whole = changes
      changes.truncate(to: count)
      #expect(positions(whole) == wanted, "a copy stays as it was")
      wanted.removeSubrange(count...)
      #expect(changes.count == count && positions(changes) == wanted)
      #expect(positions(changes.reversed()) == wanted.reversed())
      #expect(positions(changes.dropFirst(count / 2)) == Array(wanted.dropFirst(count / 2)))
    }
    changes.removeAll()
    #expect(changes.isEmpty)
  }

  @Test func aChangeIsMarkedWhereItLies() throws {
    var changes = ChangeSequence()
    for position in 0..<1100 { changes.append(try change(position)) }
    for index in [0, 511, 512, 1023, 1024, 1099] { changes[index].isSilent = true }
    #expect(changes.indices.filter { changes[$0].isSilent } == [0, 511, 512, 1023, 1024, 1099])
    #expect(!changes.contains { $0.isUnregistered })
  }
}
