import MoonbasePlatform

/// Limits the memory of values that browsers have not received yet.
final class ValuesOnTheirWay: Sendable {
  private static let greatestTotal = 512 << 20
  private let total = Lock(0)

  /// The reserved memory of a value. It is released with this object.
  final class Reservation: Sendable {
    private let size: Int
    private let owner: ValuesOnTheirWay

    fileprivate init(_ size: Int, _ owner: ValuesOnTheirWay) { (self.size, self.owner) = (size, owner) }

    deinit { owner.total.withLock { $0 -= size } }
  }

  /// Reserves memory for a value. Throws if the values in transfer leave too little memory.
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
