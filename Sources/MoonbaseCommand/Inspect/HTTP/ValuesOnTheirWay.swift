import MoonbasePlatform

/// Bounds the memory of values that browsers have not taken yet.
final class ValuesOnTheirWay: Sendable {
  private static let greatestTotal = 512 << 20
  private let total = Lock(0)

  /// The memory of a value, until it is let go of.
  final class Reservation: Sendable {
    private let size: Int
    private let owner: ValuesOnTheirWay

    fileprivate init(_ size: Int, _ owner: ValuesOnTheirWay) { (self.size, self.owner) = (size, owner) }

    deinit { owner.total.withLock { $0 -= size } }
  }

  /// Takes the memory of a value. Throws where those on their way leave too little.
  func reserve(_ size: Int) throws -> Reservation {
    let hasRoom = total.withLock { total in
      guard total == 0 || total + size <= Self.greatestTotal else { return false }
      total += size
      return true
    }
    guard hasRoom else {
      throw InspectRefusal(503, "other large values are still being sent: try again when they are there")
    }
    return Reservation(size, self)
  }
}
