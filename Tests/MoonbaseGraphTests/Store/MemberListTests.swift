import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseStore

@Suite struct MemberListTests {
  private let symbol = Symbol("Thing")

  private func ids(_ count: Int) -> [ManagedObjectID] { (0..<count).map { _ in ManagedObjectID(temporaryFor: symbol) } }

  /// Compares with an array searched linearly: few members in one array, many members in chunks that split and
  /// disappear.
  @Test(arguments: [5, 200, 2000], [false, true]) func randomOperationsGiveWhatAnArrayGives(
    _ size: Int, _ keepsOrder: Bool
  ) {
    let ids = ids(size)
    var list = MemberList(unique: ids[..<(size / 2)])
    var naive = Array(ids[..<(size / 2)])
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

  /// A copy costs the changed parts only, not the whole list.
  @Test(arguments: [1000, 100_000]) func aCopySharesWhatDoesNotChange(_ count: Int) {
    let ids = ids(count + 1)
    let before = MemberChunks(unique: ContiguousArray(ids.dropLast()))
    var after = before
    let isNew = after.append(ids[count])
    #expect(isNew)
    after.move(from: count, to: count - 10)
    #expect(after.homes.unsharedCount(with: before.homes) <= 2)
    #expect(!before.contains(ids[count]) && after.index(of: ids[count]) == count - 10)
    for position in stride(from: 0, to: count, by: 97) { #expect(before.index(of: ids[position]) == position) }
  }

  @Test func whatStandsInTheMiddleOfManyMovesNoMoreThanAChunk() {
    let ids = ids(20_000)
    var list = MemberList()
    var random = SplitMix(1)
    var naive: [ManagedObjectID] = []
    for (count, id) in ids.enumerated() {
      let position = [0, count / 2, random.next(count + 1)][count % 3]
      list.append(id)
      list.move(from: count, to: position)
      naive.insert(id, at: position)
    }
    #expect(Array(list) == naive)
    #expect(list.chunkSizes.allSatisfy { $0 <= 512 } && list.chunkSizes.count <= 20_000 / 200)
    for position in stride(from: 0, to: 20_000, by: 97) { #expect(list.index(of: list[position]) == position) }
    for id in ids.dropLast(1000) { list.remove(id, keepingOrder: true) }
    let left = Set(ids.suffix(1000))
    #expect(Array(list) == naive.filter(left.contains))
    // Small chunks are merged, and a short list is one array again.
    #expect(list.chunkSizes.count <= 1000 / 64)
    for id in ids.suffix(1000).dropLast(10) { list.remove(id, keepingOrder: true) }
    #expect(list.count == 10 && list.chunkSizes.isEmpty)
  }

  @Test func aCopyStaysWhatItWas() {
    let ids = ids(3000)
    var list = MemberList(unique: ids)
    list.append(ManagedObjectID(temporaryFor: symbol))
    let copy = list
    for _ in 0..<100 { list.move(from: 0, to: 2500) }
    list.remove(ids[1500], keepingOrder: true)
    #expect(Array(copy.dropLast()) == ids && copy.count == 3001 && list.count == 3000)
  }
}
