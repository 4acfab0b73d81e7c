import Testing

@testable import MoonbaseModel

/// Values remembered while a predicate is evaluated for many rows.
@Suite struct EvaluationMemoTests {
  private final class Part {}

  private func state(_ key: Int, _ context: AnyObject, changes: UInt64 = 0) -> SubjectState {
    let id = ManagedObjectID(store: StoreNumber("memo"), entity: Symbol("Owner"), key: Int64(key))
    return SubjectState(id: id, context: context, changes: changes)
  }

  @Test func anOutcomeIsOfOnePartOneOwnerOneContextAndOneState() throws {
    let (part, other, memo) = (Part(), Part(), EvaluationMemo())
    func key(_ part: Part, _ owner: Int, _ context: AnyObject) -> EvaluationMemo.Key {
      EvaluationMemo.Key(part: ObjectIdentifier(part), owner: state(owner, context).identity)
    }
    try memo.keep(5, of: key(part, 1, part), changes: 3)
    #expect(memo.value(of: key(part, 1, part), changes: 3) == 5)
    #expect(memo.value(of: key(part, 1, part), changes: 4) == nil)
    #expect(memo.value(of: key(other, 1, part), changes: 3) == nil)
    #expect(memo.value(of: key(part, 2, part), changes: 3) == nil)
    #expect(memo.value(of: key(part, 1, other), changes: 3) == nil)
  }

  @Test func itGrowsNoFurtherThanItsBound() throws {
    let (part, memo) = (Part(), EvaluationMemo())
    let keys = (0...65_536).map {
      EvaluationMemo.Key(part: ObjectIdentifier(part), owner: state($0, part).identity)
    }
    for key in keys { try memo.keep(true, of: key, changes: 0) }
    #expect(keys.count { memo.value(of: $0, changes: 0) != nil } == 1)
  }
}
