import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The Lua values that the graph keeps as tokens without understanding them. A token is dropped on any thread; its
/// place is free again with the next token.
struct OpaqueValues {
  private var values: [LuaValue?] = []
  private var freePlaces: [Int] = []
  /// Is empty between two calls, and keeps its room.
  private var returned: [Int] = []
  private let released: Lock<[Int]>
  private let release: @Sendable (Int) -> Void

  init() {
    let released = Lock<[Int]>([])
    self.released = released
    release = { place in released.withLock { $0.append(place) } }
  }

  mutating func token(for value: LuaValue, className: String, domain: UInt64) -> OpaqueObject {
    takeBackReleased()
    let place = freePlaces.popLast() ?? values.count
    if place == values.count { values.append(value) } else { values[place] = value }
    return OpaqueObject(className: className, domain: domain, reference: place, release: release)
  }

  /// Nil for the token of another domain.
  func value(at place: Int) -> LuaValue? { values.indices.contains(place) ? values[place] : nil }

  private mutating func takeBackReleased() {
    released.withLock { swap(&$0, &returned) }
    for place in returned {
      values[place] = nil
      freePlaces.append(place)
    }
    returned.removeAll(keepingCapacity: true)
  }
}
