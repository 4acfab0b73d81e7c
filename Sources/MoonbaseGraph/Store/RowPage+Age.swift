import Synchronization

/// When rows were read, as long as any context of the process wants to know (`stalenessInterval`).
extension RowPage {
  private static let origin = ContinuousClock.now
  private static let isNoted = Atomic(false)

  /// From now on it is noted; of rows that were read before nobody knows it.
  static func noteAges() { isNoted.store(true, ordering: .relaxed) }

  /// Seconds since some moment; 0 as long as nobody wants to know.
  static var momentOfReading: Double { isNoted.load(ordering: .relaxed) ? now : 0 }

  private static var now: Double { 1 + (ContinuousClock.now - origin) / .seconds(1) }

  /// Whether the rows may be used by who takes none that are older than so many seconds; nil for any age.
  func isFresh(within seconds: Double?) -> Bool {
    guard let seconds else { return true }
    return readAt > 0 && Self.now - readAt < seconds
  }
}
