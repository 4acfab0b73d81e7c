import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseStore

/// Rows as ranges of pages, compared with an array of rows.
@Suite struct RowBatchTests {
  private static func page(_ count: Int, from key: Int64) -> RowPage {
    let builder = RowPageBuilder(StoreNumber("s"), entity: Symbol("E"), slotCount: 1, capacity: count)
    for number in 0..<count {
      builder.beginRow(key: key + Int64(number), version: 1)
      builder.set(.int(Int64(number)), slot: 0)
      builder.endRow()
    }
    return builder.finish()
  }

  private func expectEqual(_ batch: RowBatch, _ rows: [Snapshot]) {
    #expect(batch.count == rows.count && batch.isEmpty == rows.isEmpty)
    #expect(zip(batch, rows).allSatisfy { $0.isIdentical(to: $1) } && Array(batch).count == rows.count)
    #expect(rows.indices.allSatisfy { batch[$0].isIdentical(to: rows[$0]) })
    #expect(batch.weight == rows.reduce(0) { $0 + $1.weight })
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func theyAreTheRowsThatWereAdded(seed: UInt64) {
    var random = SplitMix(seed)
    let pages = (0..<3).map { Self.page(40, from: Int64(1000 * $0)) }
    var (batch, rows) = (RowBatch(), [Snapshot]())
    for _ in 0..<60 {
      let page = pages[random.next(3)]
      let start = random.next(page.count)
      // Now and then appends the row that follows the last one, so that ranges grow.
      let follows = random.next(2) == 0 && rows.last.map { $0.place + 1 < $0.page.count } ?? false
      let row = follows ? rows.last.map { Snapshot($0.page, at: $0.place + 1) } : nil
      let new = row.map { [$0] } ?? (start..<min(page.count, start + random.next(9))).map { Snapshot(page, at: $0) }
      rows += new
      if random.next(2) == 0 { batch.append(RowBatch(new)) } else { new.forEach { batch.append($0) } }
    }
    expectEqual(batch, rows)
    for _ in 0..<40 {
      let start = random.next(rows.count + 1)
      let range = start..<start + random.next(rows.count - start + 1)
      expectEqual(batch.rows(range), Array(rows[range]))
    }
    expectEqual(RowBatch(rows), rows)
    expectEqual([], [])
  }

  /// All rows of a page form a single range, in any order of addition.
  @Test func aPageIsOneStretch() {
    let page = Self.page(512, from: 1)
    let batch = RowBatch((0..<512).map { Snapshot(page, at: $0) })
    #expect(batch.stretches.count == 1 && batch.rows(100..<300).stretches.count == 1)
  }
}
