import MoonbaseModel

/// The objects of one root entity in one store, by their keys. None is retained: objects take themselves out when they go.
///
/// Eight keys that follow each other share a group: one number and eight places in a row of memory. Objects of one page come and go
/// together, and only one of eight has its group looked for. Groups are found by hashing with factors drawn at random, so that no file
/// can be written whose keys collide. Dense keys take 18 to 36 bytes each, scattered ones at most 288.
///
/// A key belongs to one object of the root entity. An ID may name another entity than the row does (a text that somebody wrote):
/// its object stands among the strays.
final class KeyMap {
  /// A group is its number, and eight pointers to objects.
  private static let stride = 9
  private static let neighbors: UInt = 3
  /// The number of a free group: no key has it, for a group's number is a key divided by eight.
  private static let free = UInt(bitPattern: Int.min)

  private let factors: (UInt64, UInt64)
  // As with the fields of objects: no access lasts while other code runs.
  @exclusivity(unchecked) private var groups: UnsafeMutablePointer<UInt>
  /// How many bits the place of a group has.
  @exclusivity(unchecked) private var bits: UInt64 = 3
  /// How many groups are not free; they may be empty.
  @exclusivity(unchecked) private var used = 0
  /// The group that was looked at last.
  @exclusivity(unchecked) private var last: UnsafeMutablePointer<UInt>
  @exclusivity(unchecked) private var strays: [ManagedObjectID: Unmanaged<ManagedObject>] = [:]
  /// How many objects there are.
  @exclusivity(unchecked) private(set) var count = 0

  /// An empty map; all maps of a process have the same factors.
  convenience init() { self.init(factors: randomFactors) }

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

  /// The object of a key and table.
  @inline(__always)
  func object(_ key: Int64, of table: Unmanaged<ObjectTable>) -> Unmanaged<ManagedObject>? {
    if let found = Self.object(group(of: key)[Self.place(of: key)]), Self.isOf(table, found) { return found }
    return strays.isEmpty ? nil : stray(key, of: table)
  }

  /// The object of a key, of whichever table.
  func object(_ key: Int64) -> Unmanaged<ManagedObject>? { Self.object(group(of: key)[Self.place(of: key)]) }

  @inline(never)
  private func stray(_ key: Int64, of table: Unmanaged<ObjectTable>) -> Unmanaged<ManagedObject>? {
    strays[table._withUnsafeGuaranteedRef { $0.id(key) }]
  }

  /// Puts an object under its key; returns another one that had its ID.
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

  /// Takes an object out, if it is the one that is kept by its ID.
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

  func removeAll() {
    groups.deallocate()
    groups = Self.allocate(3)
    (bits, used, last, strays, count) = (3, 0, groups, [:], 0)
  }

  /// All objects, in no order.
  var values: [Unmanaged<ManagedObject>] {
    var values: [Unmanaged<ManagedObject>] = []
    values.reserveCapacity(count)
    forEach { values.append($0) }
    return values
  }

  /// Hands all objects to `body`, which neither puts in nor takes out any.
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

  /// From the group to the place of a key.
  @inline(__always)
  private static func place(of key: Int64) -> Int { 1 &+ Int(key & 7) }

  /// The group of a key; a free one where there is none, whose places are empty.
  @inline(__always)
  private func group(of key: Int64) -> UnsafeMutablePointer<UInt> {
    let number = Self.number(of: key)
    if last.pointee == number { return last }
    let found = find(number)
    last = found
    return found
  }

  /// The group of a key, which is one that is not free.
  @inline(__always)
  private func groupToFill(of key: Int64) -> UnsafeMutablePointer<UInt> {
    let group = group(of: key)
    return group.pointee == Self.free ? take(group, for: Self.number(of: key)) : group
  }

  @inline(never)
  private func take(_ group: UnsafeMutablePointer<UInt>, for number: UInt) -> UnsafeMutablePointer<UInt> {
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

  /// The group of a number, or the free one where it would be. There is a free one, for never all are used.
  @inline(never)
  private func find(_ number: UInt) -> UnsafeMutablePointer<UInt> {
    var place = firstPlace(of: number)
    while true {
      let group = groups + place * Self.stride
      if group.pointee == number || group.pointee == Self.free { return group }
      place = (place + 1) & (capacity - 1)
    }
  }

  private func firstPlace(of number: UInt) -> Int {
    let product = (UInt64(number & ~Self.neighbors) ^ factors.0).multipliedFullWidth(by: factors.1 | 1)
    // The lowest bits of a product may hardly differ; a fixed factor carries those of all into the highest.
    let mixed = (product.high ^ product.low) &* 0x9E37_79B9_7F4A_7C15
    // Four groups that follow each other are neighbours, too, which memory is quicker to give.
    return Int(truncatingIfNeeded: mixed >> (64 - bits)) & ~Int(Self.neighbors) | Int(number & Self.neighbors)
  }

  @inline(__always)
  private static func isEmpty(_ group: UnsafeMutablePointer<UInt>) -> Bool {
    group[1] | group[2] | group[3] | group[4] | group[5] | group[6] | group[7] | group[8] == 0
  }

  /// An empty group is free again where no search goes on behind it; elsewhere it waits for the next resizing.
  private func free(_ group: UnsafeMutablePointer<UInt>) {
    var place = (group - groups) / Self.stride
    guard groups[((place + 1) & (capacity - 1)) * Self.stride] == Self.free else { return }
    while groups[place * Self.stride] != Self.free, Self.isEmpty(groups + place * Self.stride) {
      groups[place * Self.stride] = Self.free
      used -= 1
      place = (place - 1) & (capacity - 1)
    }
  }

  /// Makes room for twice as many groups as have objects; those without are let go.
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

  /// What does not hold that must hold.
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

  /// How far from its own place a group lies at most: the cost of the worst look-up.
  var greatestDistance: Int {
    (0..<capacity).reduce(0) { greatest, place in
      let number = groups[place * Self.stride]
      return number == Self.free ? greatest : max(greatest, (place - firstPlace(of: number)) & (capacity - 1))
    }
  }

  /// The bytes that it takes.
  var weight: Int { capacity * Self.stride * 8 }
}

private let randomFactors = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
