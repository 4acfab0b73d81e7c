import MoonbaseModel

/// The objects of one root entity in one store, by key. Objects are not retained: they remove themselves.
///
/// Eight consecutive keys share a group, which is a number and eight pointers in consecutive memory. Objects of one
/// page are created and released together, and only one of eight needs a group lookup. Groups are found by hashing with
/// random factors, so that no file can be constructed whose keys collide. Dense keys take 18 to 36 bytes each,
/// scattered keys at most 288.
///
/// A key belongs to one object of the root entity. An ID from a text may name another entity than the row does; its
/// object is stored separately, among the strays.
final class KeyMap {
  /// The length of a group: its number and eight pointers.
  private static let stride = 9
  private static let neighbors: UInt = 3
  /// The number that marks a free group. No key has this number, because group numbers are keys divided by eight.
  private static let free = UInt(bitPattern: Int.min)

  private let factors: (UInt64, UInt64)
  // As with the fields of objects, no access lasts while other code runs.
  @exclusivity(unchecked) private var groups: UnsafeMutablePointer<UInt>
  /// The binary logarithm of the number of groups.
  @exclusivity(unchecked) private var bits: UInt64 = 3
  /// The number of groups in use, which may be empty.
  @exclusivity(unchecked) private var used = 0
  /// The group of the last lookup.
  @exclusivity(unchecked) private var last: UnsafeMutablePointer<UInt>
  @exclusivity(unchecked) private var strays: [ManagedObjectID: Unmanaged<ManagedObject>] = [:]
  /// The number of objects.
  @exclusivity(unchecked) private(set) var count = 0

  /// Makes an empty map; all maps of a process have the same factors.
  convenience init() { self.init(factors: randomFactors) }

  /// Makes an empty map with factors for hashing; tests choose their own.
  init(factors: (UInt64, UInt64)) {
    self.factors = factors
    groups = Self.allocate(3)
    last = groups
  }

  deinit { groups.deallocate() }

  private static func allocate(_ bits: UInt64) -> UnsafeMutablePointer<UInt> {
    let count = stride << Int(bits)
    let groups = UnsafeMutablePointer<UInt>.allocate(capacity: count)
    groups.initialize(repeating: 0, count: count)
    for place in 0..<1 << Int(bits) { groups[place * stride] = free }
    return groups
  }

  private var capacity: Int { 1 << Int(bits) }

  // MARK: Objects

  /// The object with a key in a table.
  @inline(__always)
  func object(_ key: Int64, of table: Unmanaged<ObjectTable>) -> Unmanaged<ManagedObject>? {
    if let found = Self.object(group(of: key)[Self.place(of: key)]), Self.isOf(table, found) { return found }
    return strays.isEmpty ? nil : stray(key, of: table)
  }

  /// The object with a key, in any table.
  func object(_ key: Int64) -> Unmanaged<ManagedObject>? { Self.object(group(of: key)[Self.place(of: key)]) }

  @inline(never)
  private func stray(_ key: Int64, of table: Unmanaged<ObjectTable>) -> Unmanaged<ManagedObject>? {
    strays[table._withUnsafeGuaranteedRef { $0.id(key) }]
  }

  /// Inserts an object under its key; returns the other object that had its ID, if any.
  @inline(__always)
  func insert(_ object: ManagedObject) -> ManagedObject? {
    let key = object.key
    let place = groupToFill(of: key) + Self.place(of: key)
    if place.pointee == 0, strays.isEmpty {
      place.pointee = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
      count &+= 1
      return nil
    }
    return replace(place, by: object)
  }

  @inline(never)
  private func replace(_ place: UnsafeMutablePointer<UInt>, by object: ManagedObject) -> ManagedObject? {
    let new = Unmanaged.passUnretained(object)
    let old = Self.object(place.pointee)
    if let old, !Self.isOf(object.table, old) {
      let other = strays.updateValue(new, forKey: object.objectID)?.takeUnretainedValue()
      if other == nil { count += 1 }
      return other === object ? nil : other
    }
    let other = old ?? strays.removeValue(forKey: object.objectID)
    place.pointee = UInt(bitPattern: new.toOpaque())
    if other == nil { count += 1 }
    return other?.toOpaque() == new.toOpaque() ? nil : other?.takeUnretainedValue()
  }

  /// Removes an object, if the map contains this instance under its ID.
  @inline(__always)
  func remove(_ object: ManagedObject) {
    let key = object.key
    let group = group(of: key)
    let place = group + Self.place(of: key)
    guard place.pointee == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else {
      if !strays.isEmpty { removeStray(object) }
      return
    }
    place.pointee = 0
    count &-= 1
    if Self.isEmpty(group) { free(group) }
  }

  @inline(never)
  private func removeStray(_ object: ManagedObject) {
    let id = object.objectID
    guard strays[id]?.toOpaque() == Unmanaged.passUnretained(object).toOpaque() else { return }
    strays[id] = nil
    count -= 1
  }

  /// Removes all objects.
  func removeAll() {
    groups.deallocate()
    groups = Self.allocate(3)
    (bits, used, last, strays, count) = (3, 0, groups, [:], 0)
  }

  /// All objects, unordered.
  var values: [Unmanaged<ManagedObject>] {
    var values: [Unmanaged<ManagedObject>] = []
    values.reserveCapacity(count)
    forEach { values.append($0) }
    return values
  }

  /// Passes all objects to `body`, which must not change the map.
  func forEach(_ body: (Unmanaged<ManagedObject>) -> Void) {
    for place in 0..<capacity where groups[place * Self.stride] != Self.free {
      for index in 1...8 {
        if let object = Self.object(groups[place * Self.stride + index]) { body(object) }
      }
    }
    strays.values.forEach(body)
  }

  private static func object(_ pointer: UInt) -> Unmanaged<ManagedObject>? {
    UnsafeRawPointer(bitPattern: pointer).map { Unmanaged.fromOpaque($0) }
  }

  @inline(__always)
  private static func isOf(_ table: Unmanaged<ObjectTable>, _ object: Unmanaged<ManagedObject>) -> Bool {
    object._withUnsafeGuaranteedRef { $0.table.toOpaque() == table.toOpaque() }
  }

  // MARK: Groups

  @inline(__always)
  private static func number(of key: Int64) -> UInt { UInt(bitPattern: Int(key >> 3)) }

  /// The offset of a key's pointer within its group.
  @inline(__always)
  private static func place(of key: Int64) -> Int { 1 &+ Int(key & 7) }

  /// The group of a key, or a free group, whose pointers are null.
  @inline(__always)
  private func group(of key: Int64) -> UnsafeMutablePointer<UInt> {
    let number = Self.number(of: key)
    if last.pointee == number { return last }
    let found = find(number)
    last = found
    return found
  }

  /// The group of a key, taken into use if necessary.
  @inline(__always)
  private func groupToFill(of key: Int64) -> UnsafeMutablePointer<UInt> {
    let group = group(of: key)
    return group.pointee == Self.free ? claim(group, for: Self.number(of: key)) : group
  }

  @inline(never)
  private func claim(_ group: UnsafeMutablePointer<UInt>, for number: UInt) -> UnsafeMutablePointer<UInt> {
    var group = group
    if 2 * (used + 1) > capacity {
      resize()
      group = find(number)
    }
    used += 1
    group.pointee = number
    last = group
    return group
  }

  /// The group of a number, or the free group at its position. Some group is always free.
  @inline(never)
  private func find(_ number: UInt) -> UnsafeMutablePointer<UInt> {
    var place = firstPlace(of: number)
    while true {
      let group = groups + place * Self.stride
      if group.pointee == number || group.pointee == Self.free { return group }
      place = (place + 1) & (capacity - 1)
    }
  }

  /// The position at which the search for a group begins.
  private func firstPlace(of number: UInt) -> Int {
    let product = (UInt64(number & ~Self.neighbors) ^ factors.0).multipliedFullWidth(by: factors.1 | 1)
    // The lowest bits of a product may hardly differ; a fixed factor carries the differences into the highest bits.
    let mixed = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
    // Four consecutive groups are neighbours too, which makes memory accesses faster.
    return Int(truncatingIfNeeded: mixed >> (64 - bits)) & ~Int(Self.neighbors) | Int(number & Self.neighbors)
  }

  @inline(__always)
  private static func isEmpty(_ group: UnsafeMutablePointer<UInt>) -> Bool {
    group[1] | group[2] | group[3] | group[4] | group[5] | group[6] | group[7] | group[8] == 0
  }

  /// Frees an empty group if no probe sequence continues behind it; otherwise the next resizing removes it.
  private func free(_ group: UnsafeMutablePointer<UInt>) {
    var place = (group - groups) / Self.stride
    guard groups[((place + 1) & (capacity - 1)) * Self.stride] == Self.free else { return }
    while groups[place * Self.stride] != Self.free, Self.isEmpty(groups + place * Self.stride) {
      groups[place * Self.stride] = Self.free
      used -= 1
      place = (place - 1) & (capacity - 1)
    }
  }

  /// Allocates twice as many groups as have objects, and drops empty groups.
  private func resize() {
    let (old, count) = (groups, capacity)
    let kept = (0..<count).filter { place in
      old[place * Self.stride] != Self.free && !Self.isEmpty(old + place * Self.stride)
    }
    bits = 3
    while 4 * (kept.count + 1) > capacity { bits += 1 }
    groups = Self.allocate(bits)
    used = kept.count
    for place in kept {
      let group = old + place * Self.stride
      find(group.pointee).update(from: group, count: Self.stride)
    }
    last = groups
    old.deallocate()
  }

  /// The violated invariants.
  var brokenInvariants: [String] {
    var broken: [String] = []
    var (groupCount, objectCount) = (0, strays.count)
    for place in 0..<capacity {
      let group = groups + place * Self.stride
      guard group.pointee != Self.free else {
        if !Self.isEmpty(group) { broken.append("a free group has objects") }
        continue
      }
      groupCount += 1
      if find(group.pointee) != group { broken.append("group \(Int(bitPattern: group.pointee)) is not found") }
      for index in 1...8 {
        guard let object = Self.object(group[index])?.takeUnretainedValue() else { continue }
        objectCount += 1
        if object.key >> 3 != Int(bitPattern: group.pointee) || Int(object.key & 7) != index - 1 {
          broken.append("\(object.objectID) is at the place of another key")
        }
      }
    }
    for (id, object) in strays where object.takeUnretainedValue().objectID != id {
      broken.append("\(object.takeUnretainedValue().objectID) strays as \(id)")
    }
    if groupCount != used { broken.append("\(groupCount) groups are used, and \(used) counted") }
    if objectCount != count { broken.append("\(objectCount) objects are here, and \(count) counted") }
    return broken
  }

  /// The greatest distance of a group from its first position: the cost of the worst lookup.
  var greatestDistance: Int {
    (0..<capacity).reduce(0) { greatest, place in
      let number = groups[place * Self.stride]
      return number == Self.free ? greatest : max(greatest, (place - firstPlace(of: number)) & (capacity - 1))
    }
  }

  /// The bytes of the groups.
  var weight: Int { capacity * Self.stride * 8 }
}

private let randomFactors = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
