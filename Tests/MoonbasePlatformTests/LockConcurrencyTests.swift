import MoonbasePlatform
import Testing

/// Suites whose name contains `Concurrency` run under the thread sanitizer too (`scripts/test`).
@Suite struct LockConcurrencyTests {
  @Test func noIncrementIsLostBetweenThreads() async {
    let counter = Lock(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 { counter.withLock { $0 += 1 } }
        }
      }
    }
    #expect(counter.withLock { $0 } == 8000)
  }

  @Test func theLockIsFreeAgainAfterAnError() {
    struct Refusal: Error {}
    let lock = Lock(1)
    #expect(throws: Refusal.self) {
      try lock.withLock { (value: inout Int) throws(Refusal) in
        value = 2
        throw Refusal()
      }
    }
    #expect(lock.withLock { $0 } == 2)
  }
}
