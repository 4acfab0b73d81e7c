import MoonbasePlatform

extension Value {
  /// The estimated bytes of the value in addition to its own 24, for a script's memory limit.
  // Inlined, because every value read or written is weighed: docs/development.md, "What the compiler is told".
  @inlinable @inline(__always)
  package var weight: Int {
    switch self {
    case .null, .bool, .int, .double, .decimal, .date, .uuid, .objectID: 0
    case .string(let text): text.utf8.count < 16 ? 0 : text.utf8.count &+ 32
    case .data, .uri, .list, .map, .object: largeWeight
    }
  }

  /// The weight of a data, URI, list, map or object.
  @usableFromInline
  package var largeWeight: Int {
    switch self {
    case .data(let data): data.count + 64
    case .uri(let uri): 512 + uri.absoluteString.utf8.count
    case .object: 256
    default: branchWeight
    }
  }

  /// The weight of a list or a map with all of its parts.
  private var branchWeight: Int {
    var total = 0
    var pending = [self]
    // Without recursion, because a program may nest values to any depth.
    while let value = pending.popLast() {
      switch value {
      case .list(let list):
        total += 32 + list.count * 24
        for element in list { element.isBranch ? pending.append(element) : (total += element.weight) }
      case .map(let map):
        total += 64 + map.count * 64
        for (key, element) in map {
          total += key.utf8.count
          element.isBranch ? pending.append(element) : (total += element.weight)
        }
      default: total += value.weight
      }
    }
    return total
  }

  /// Whether the value is a list or a map.
  private var isBranch: Bool {
    switch self {
    case .list, .map: true
    default: false
    }
  }
}

extension String {
  /// Short texts are stored inline.
  ///
  /// The estimated bytes of the text in addition to its own 16.
  var weight: Int { utf8.count < 16 ? 0 : utf8.count + 32 }
}

extension [String] {
  /// The estimated bytes of the texts.
  var weight: Int { reduce(32) { $0 + 16 + $1.weight } }
}

extension [String: Value] {
  /// The estimated bytes of keys and values.
  var weight: Int { isEmpty ? 0 : reduce(64) { $0 + 64 + $1.key.weight + $1.value.weight } }
}
