import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct MemberListTests {
  private let symbol = Symbol("Thing")

  private func ids(_ count: Int) -> [ManagedObjectID] { (0..<count).map { _ in ManagedObjectID(temporaryFor: symbol) } }

  /// Beside an array that is searched from its beginning; small ones and such as are found by their hash.
  @Test(arguments: [5, 200], [false, true]) func randomOperationsGiveWhatAnArrayGives(_ size: Int, _ keepsOrder: Bool) {
    let ids = ids(size)
    var list = MemberList()
    var naive: [ManagedObjectID] = []
    var random = SplitMix(UInt64(size))
    for _ in 0..<3000 {
      let id = ids[random.next(size)]
      switch random.next(4) {
      case 0, 1:
        #expect(list.append(id) == !naive.contains(id))
        if !naive.contains(id) { naive.append(id) }
      case 2:
        #expect(list.remove(id, keepingOrder: keepsOrder) == naive.firstIndex(of: id))
        if keepsOrder { naive.removeAll { $0 == id } } else { naive = Array(list) }
        #expect(!naive.contains(id))
      default:
        guard !naive.isEmpty else { continue }
        let (from, to) = (random.next(naive.count), random.next(naive.count))
        naive.insert(naive.remove(at: from), at: to)
        list.move(from: from, to: to)
      }
      #expect(Array(list) == naive && list.contains(id) == naive.contains(id))
      #expect(list.index(of: id) == naive.firstIndex(of: id))
    }
    #expect(Set(list).count == list.count)
  }
}
