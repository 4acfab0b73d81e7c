import Synchronization

/// The time when rows were read, recorded once a context of the process uses `stalenessInterval`.
extension RowPage {
  private static let origin = ContinuousClock.now
  private static let isNoted = Atomic(false)

  /// Starts recording times. The age of rows read before is unknown.
  package static func noteAges() { isNoted.store(true, ordering: .relaxed) }

  /// The current time in seconds since an arbitrary start; 0 until recording starts.
  static var momentOfReading: Double { isNoted.load(ordering: .relaxed) ? now : 0 }

  private static var now: Double { 1 + (ContinuousClock.now - origin) / .seconds(1) }

  /// Whether the rows are younger than `seconds`; true for nil. Rows of unknown age are not.
  package func isFresh(within seconds: Double?) -> Bool {
    guard let seconds else { return true }
    return readAt > 0 && Self.now - readAt < seconds
  }
}
