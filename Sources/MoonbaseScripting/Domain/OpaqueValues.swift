import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The Lua values that the graph holds as opaque tokens. A token may be released on any thread; its place is reused
/// when the next token is made.
///
/// The graph stores a value of an extension's class without understanding it: an attribute's cell has an `OpaqueObject`
/// with a place in this table. The domain owns the table. Only the list of released places is shared between threads.
struct OpaqueValues {
  /// The values by place; nil at free places.
  private var values: [LuaValue?] = []
  /// The places without values.
  private var freePlaces: [Int] = []
  /// Empty between calls; kept to reuse its capacity. Swapped with `released`, so that the lock is held for a pointer
  /// exchange only.
  private var returned: [Int] = []
  /// The places whose tokens were released since the last new token.
  private let released: Lock<[Int]>
  /// Passed to each token, which calls it in its `deinit`.
  private let release: @Sendable (Int) -> Void

  /// An empty table.
  init() {
    let released = Lock<[Int]>([])
    self.released = released
    release = { place in released.withLock { $0.append(place) } }
  }

  /// A token for a value, which keeps the value alive. Amortized constant time.
  mutating func token(for value: LuaValue, className: String, domain: UInt64) -> OpaqueObject {
    freeReleased()
    let place = freePlaces.popLast() ?? values.count
    if place == values.count { values.append(value) } else { values[place] = value }
    return OpaqueObject(className: className, domain: domain, reference: place, release: release)
  }

  /// The value of a token; nil for a token of another domain.
  func value(at place: Int) -> LuaValue? { values.indices.contains(place) ? values[place] : nil }

  /// Frees the places whose tokens were released.
  private mutating func freeReleased() {
    released.withLock { swap(&$0, &returned) }
    for place in returned {
      values[place] = nil
      freePlaces.append(place)
    }
    returned.removeAll(keepingCapacity: true)
  }
}
