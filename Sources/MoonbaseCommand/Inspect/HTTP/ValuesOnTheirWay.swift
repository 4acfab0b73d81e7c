import MoonbasePlatform

/// Limits the memory of values that browsers have not received yet.
///
/// A large binary value is in memory from the time it is read until its last byte is sent. A slow
/// browser with many requests could therefore use all memory. `InspectDesk` owns the only instance.
final class ValuesOnTheirWay: Sendable {
  /// The maximum total size in bytes. A single larger value is allowed while nothing else is
  /// reserved.
  private static let greatestTotal = 512 << 20
  /// The sum of all reserved sizes in bytes.
  private let total = Lock(0)

  /// The reserved memory of a value. It is released with this object.
  ///
  /// An `HTTPResponse` keeps it as long as its body is needed.
  final class Reservation: Sendable {
    /// The reserved size in bytes.
    private let size: Int
    /// The counter to reduce at the end.
    private let owner: ValuesOnTheirWay

    fileprivate init(_ size: Int, _ owner: ValuesOnTheirWay) { (self.size, self.owner) = (size, owner) }

    deinit { owner.total.withLock { $0 -= size } }
  }

  /// Reserves memory for a value. Throws if the values in transfer leave too little memory.
  ///
  /// - Parameter size: The size of the value in bytes.
  /// - Returns: The reservation, which the response must keep.
  /// - Throws: An `InspectRefusal` with status 503.
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
