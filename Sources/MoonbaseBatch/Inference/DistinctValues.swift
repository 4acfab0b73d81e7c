/// Memory that all columns share to find out which have no value twice: 32 MiB unless said otherwise.
final class DistinctBudget {
  /// How many hashes there is room for.
  fileprivate var slots: Int

  init(slots: Int = 4 << 20) { self.slots = slots }
}

/// Whether a column has a value twice, and which values it has where these are few.
///
/// Of each value 64 bits are kept as long as no value came twice and there is room: two values may be taken for one, which is one chance in
/// millions for millions of rows, but never one for two. Integers that only grow need no room.
struct DistinctValues {
  /// Columns with more values are no enumeration, nor those with longer ones.
  static let greatestFew = 24
  private static let longestFew = 60

  /// The values, while they are few, in the order in which they came.
  private(set) var few: [[UInt8]]? = []
  private var fewHashes: [UInt64] = []

  private var table: [UInt64] = []
  private var count = 0
  private var hasDuplicate = false
  private var isOverflowing = false
  private var isAscending = true
  private var last = Int64.min
  private let budget: DistinctBudget

  init(_ budget: DistinctBudget) { self.budget = budget }

  /// Whether no value came twice; nil where there was no room to find out.
  var areUnique: Bool? {
    if count > 0, isAscending { return true }
    if hasDuplicate { return false }
    return isOverflowing ? nil : true
  }

  /// Takes in a value, and the integer that it is.
  mutating func add(_ bytes: UnsafeRawBufferPointer, integer: Int64?) {
    count += 1
    if isAscending {
      isAscending = integer.map { $0 > last || count == 1 } ?? false
      last = integer ?? last
    }
    let searches = !hasDuplicate && !isOverflowing
    guard few != nil || searches else { return }
    let hash = Self.hash(bytes)
    if few != nil { addFew(bytes, hash) }
    if searches { search(hash) }
  }

  /// Values are no more to be told apart.
  mutating func giveUp() {
    few = nil
    isAscending = false
    hasDuplicate = true
    free()
  }

  private mutating func addFew(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64) {
    if fewHashes.contains(hash) { return }
    guard fewHashes.count < Self.greatestFew, bytes.count <= Self.longestFew else { return few = nil }
    fewHashes.append(hash)
    few?.append(Array(bytes))
  }

  private mutating func search(_ hash: UInt64) {
    if count * 4 > table.count * 3, !grow() { return }
    let mask = table.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while table[place] != 0 {
      if table[place] == hash {
        hasDuplicate = true
        return free()
      }
      place = (place + 1) & mask
    }
    table[place] = hash
  }

  private mutating func grow() -> Bool {
    let size = max(64, table.count * 2)
    guard budget.slots >= size else {
      isOverflowing = true
      free()
      return false
    }
    budget.slots -= size - table.count
    let former = table
    table = [UInt64](repeating: 0, count: size)
    for hash in former where hash != 0 {
      var place = Int(truncatingIfNeeded: hash) & (size - 1)
      while table[place] != 0 { place = (place + 1) & (size - 1) }
      table[place] = hash
    }
    return true
  }

  private mutating func free() {
    budget.slots += table.count
    table = []
  }

  /// Never 0, which stands for an empty place.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: bytes.count) ^ 0x9e37_79b9_7f4a_7c15
    func mix(_ word: UInt64) {
      let product = (hash ^ word).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
      hash = product.high ^ product.low ^ word
    }
    var place = 0
    while bytes.count - place >= 8 {
      mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    mix(rest)
    mix(0xa076_1d64_78bd_642f)
    return hash == 0 ? 1 : hash
  }
}
