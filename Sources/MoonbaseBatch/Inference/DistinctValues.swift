/// The memory shared by all columns to find duplicate values: 32 MiB by default.
///
/// A column that finds a duplicate returns its part.
final class DistinctBudget {
  /// The remaining number of hashes.
  fileprivate var slots: Int

  /// A budget of hashes, with 8 bytes each.
  init(slots: Int = 4 << 20) { self.slots = slots }
}

/// Whether a column has duplicate values, and its distinct values if there are few.
///
/// A 64-bit hash is kept of each value until a duplicate is found or memory is used up. Two values may have the same
/// hash, with a chance of one in millions for millions of rows, but duplicates are never missed. Ascending integers
/// need no memory.
struct DistinctValues {
  /// Columns with more values, or longer ones, are not enumerations.
  static let greatestFew = 24
  /// The length in bytes above which a value ends the enumeration.
  private static let longestFew = 60

  /// The distinct values in order of appearance, while there are few.
  private(set) var few: [[UInt8]]? = []
  /// The hashes of `few`, to avoid comparing texts.
  private var fewHashes: [UInt64] = []

  /// An open hash table with linear probing, at most three quarters full; 0 marks a free entry.
  private var table: [UInt64] = []
  /// The number of values, including repeated ones.
  private var count = 0
  /// Whether a value was seen twice.
  private var hasDuplicate = false
  /// Whether the budget did not suffice.
  private var isOverflowing = false
  /// Whether all values are ascending integers.
  private var isAscending = true
  /// The last integer.
  private var last = Int64.min
  /// The shared memory.
  private let budget: DistinctBudget

  /// A set without values.
  init(_ budget: DistinctBudget) { self.budget = budget }

  /// Whether all values are distinct; nil if memory was insufficient.
  var areUnique: Bool? {
    if count > 0, isAscending { return true }
    if hasDuplicate { return false }
    return isOverflowing ? nil : true
  }

  /// Adds a value, with its integer if it is one.
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

  /// Stops distinguishing values.
  mutating func stopDistinguishing() {
    few = nil
    isAscending = false
    hasDuplicate = true
    free()
  }

  /// Adds a value to `few`, or ends the enumeration.
  private mutating func addFew(_ bytes: UnsafeRawBufferPointer, _ hash: UInt64) {
    if fewHashes.contains(hash) { return }
    guard fewHashes.count < Self.greatestFew, bytes.count <= Self.longestFew else { return few = nil }
    fewHashes.append(hash)
    few?.append(Array(bytes))
  }

  /// Looks for a hash in the table and adds it.
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

  /// Doubles the table. Returns false if the budget does not suffice.
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

  /// Returns the table's memory to the budget.
  private mutating func free() {
    budget.slots += table.count
    table = []
  }

  /// Never 0, which marks a free entry.
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
