import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The Lua values that the graph holds as opaque tokens. A token may be released on any thread; its place is reused
/// when the next token is made.
struct OpaqueValues {
  private var values: [LuaValue?] = []
  private var freePlaces: [Int] = []
  /// Empty between calls; kept to reuse its capacity.
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

  /// The value of a token; nil for a token of another domain.
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
