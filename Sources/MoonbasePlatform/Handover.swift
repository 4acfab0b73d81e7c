/// Parts of some work on their way from the thread that makes them to the one that takes them, in the order in which they were made.
///
/// Each side waits for the other where it is too far ahead or behind, until the run on its thread must end.
package final class Handover<Part: Sendable>: @unchecked Sendable {  // all is touched under `condition`
  // The thread sanitizer understands its lock, which is pthread's.
  private let condition = NSCondition()
  private let depth: Int
  private var parts: [Part] = []
  private var isComplete = false
  private var isBroken = false

  /// Between two looks whether the run on this thread must end, in seconds.
  private static var pause: Double { 0.02 }

  /// At most `depth` parts wait to be taken.
  package init(depth: Int) { self.depth = depth }

  /// Hands a part over, waiting for room.
  package func put(_ part: Part) throws {
    condition.lock()
    defer { condition.unlock() }
    try wait { isBroken || parts.count < depth }
    if isBroken { throw BrokenHandover() }
    parts.append(part)
    condition.broadcast()
  }

  /// The next part; nil where these were all.
  package func take() throws -> Part? {
    condition.lock()
    defer { condition.unlock() }
    try wait { isBroken || isComplete || !parts.isEmpty }
    if isBroken, !isComplete { throw BrokenHandover() }
    guard !parts.isEmpty else { return nil }
    defer { condition.broadcast() }
    return parts.removeFirst()
  }

  private func wait(until isReady: () -> Bool) throws {
    while !isReady() {
      _ = condition.wait(until: Date(timeIntervalSinceNow: Self.pause))
      if HostWork.isOver { throw HostWork.ending() }
      try Task.checkCancellation()
    }
  }

  /// No part comes after those that are there.
  package func complete() { change { isComplete = true } }

  /// One side gives up, and so has the other to; what is complete can be taken still.
  package func breakOff() { change { isBroken = true } }

  private func change(_ body: () -> Void) {
    condition.lock()
    body()
    condition.broadcast()
    condition.unlock()
  }
}

/// The other side gave up.
package struct BrokenHandover: Error {
  package init() {}
}
