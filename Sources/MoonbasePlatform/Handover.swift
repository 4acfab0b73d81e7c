/// A bounded queue that passes parts of work between two threads, in order.
///
/// Each side waits for the other if it is too far ahead or behind, until the run on its thread must end.
package final class Handover<Part: Sendable>: @unchecked Sendable {  // all is touched under `condition`
  // A pthread lock, which the thread sanitizer understands.
  private let condition = NSCondition()
  private let depth: Int
  private var parts: [Part] = []
  private var isComplete = false
  private var isBroken = false

  /// The seconds between checks whether the run on this thread must end.
  private static var pause: Double { 0.02 }

  /// A queue of at most `depth` parts.
  package init(depth: Int) { self.depth = depth }

  /// Adds a part, waiting for room.
  package func put(_ part: Part) throws {
    condition.lock()
    defer { condition.unlock() }
    try wait { isBroken || parts.count < depth }
    if isBroken { throw BrokenHandover() }
    parts.append(part)
    condition.broadcast()
  }

  /// Removes the next part, waiting for one; nil after the last part.
  package func receive() throws -> Part? {
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

  /// Marks the queue as complete: no further part is added.
  package func complete() { change { isComplete = true } }

  /// Breaks the transfer off for both sides. A complete queue can still be emptied.
  package func breakOff() { change { isBroken = true } }

  private func change(_ body: () -> Void) {
    condition.lock()
    body()
    condition.broadcast()
    condition.unlock()
  }
}

/// The other side broke the transfer off.
package struct BrokenHandover: Error {
  /// The error.
  package init() {}
}
