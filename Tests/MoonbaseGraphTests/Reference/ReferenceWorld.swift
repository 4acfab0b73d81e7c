import MoonbaseModel

/// The naive model: the objects' values, and the effect of each change on them.
///
/// Objects have running numbers. The model has no faults, rows, journal or change lists.
struct ReferenceWorld: Equatable {
  /// The values and links of an object.
  struct Node: Equatable {
    var isLeaf = false
    var values: [String: Value] = [:]
    /// Destinations of to-one relationships.
    var ones: [String: Int] = [:]
    /// Destinations of to-many relationships; unordered ones are sorted by number.
    var lists: [String: [Int]] = [:]
  }

  var nodes: [Int: Node] = [:]
  /// Deleted objects whose delete rules are not applied yet.
  var marked: Set<Int> = []

  /// The objects that are not deleted, by number.
  var live: [Int] { nodes.keys.filter { !marked.contains($0) }.sorted() }

  /// The model without deleted objects.
  var visible: ReferenceWorld {
    guard !marked.isEmpty else { return self }
    var result = self
    for number in marked { result.nodes[number] = nil }
    for number in result.nodes.keys { result.forget(marked, in: number) }
    result.marked = []
    return result
  }

  /// The part that a store keeps.
  var persistent: ReferenceWorld {
    var result = self
    for number in nodes.keys { result.nodes[number] = nodes[number]?.persistent }
    return result
  }

  func leads(_ number: Int, _ link: ReferenceModel.Link, to other: Int) -> Bool {
    guard let node = nodes[number] else { return false }
    return link.isToMany ? node.lists[link.name]?.contains(other) == true : node.ones[link.name] == other
  }

  // MARK: Changes

  mutating func insert(_ number: Int, isLeaf: Bool, _ values: [String: Value]) {
    let node = Node(isLeaf: isLeaf, values: ReferenceModel.defaults.merging(values) { $1 })
    nodes[number] = node
  }

  /// Sets a to-one relationship and updates the inverse sides.
  mutating func set(_ number: Int, _ link: ReferenceModel.Link, to other: Int?) {
    let old = nodes[number]?.ones[link.name]
    guard old != other else { return }
    if let old { cut(old, link.back, number) }
    nodes[number]?.ones[link.name] = other
    if let other { take(other, link.back, number) }
  }

  mutating func add(_ other: Int, to number: Int, _ link: ReferenceModel.Link) {
    guard !leads(number, link, to: other) else { return }
    append(other, to: number, link)
    take(other, link.back, number)
  }

  mutating func remove(_ other: Int, from number: Int, _ link: ReferenceModel.Link) {
    guard leads(number, link, to: other) else { return }
    cut(number, link, other)
    cut(other, link.back, number)
  }

  mutating func setList(_ number: Int, _ link: ReferenceModel.Link, to list: [Int]) {
    for other in nodes[number]?.lists[link.name] ?? [] where !list.contains(other) { remove(other, from: number, link) }
    for other in list { add(other, to: number, link) }
    if link.isOrdered { nodes[number]?.lists[link.name] = list.isEmpty ? nil : list }
  }

  mutating func move(_ other: Int, of number: Int, _ link: ReferenceModel.Link, to place: Int) {
    nodes[number]?.lists[link.name]?.removeAll { $0 == other }
    nodes[number]?.lists[link.name]?.insert(other, at: place)
  }

  /// Applies delete rules: children are deleted with their parents, and references to deleted objects are cleared.
  mutating func settle() {
    guard !marked.isEmpty else { return }
    remove(going(with: marked))
    marked = []
  }

  /// The given objects with all their descendants.
  func going(with numbers: Set<Int>) -> Set<Int> {
    var (gone, waiting) = (numbers, Array(numbers))
    while let number = waiting.popLast() {
      for child in nodes[number]?.lists["children"] ?? [] where gone.insert(child).inserted { waiting.append(child) }
    }
    return gone
  }

  /// The wards of the given objects or of their descendants, which deny a deletion.
  func wards(leftBy numbers: Set<Int>) -> [Int] {
    let gone = going(with: numbers)
    return Set(gone.flatMap { nodes[$0]?.lists["wards"] ?? [] }).subtracting(gone).sorted()
  }

  mutating func remove(_ gone: Set<Int>) {
    for number in gone { nodes[number] = nil }
    for number in nodes.keys { forget(gone, in: number) }
  }

  private mutating func forget(_ gone: Set<Int>, in number: Int) {
    guard var node = nodes[number] else { return }
    node.ones = node.ones.filter { !gone.contains($1) }
    node.lists = node.lists.mapValues { $0.filter { !gone.contains($0) } }.filter { !$1.isEmpty }
    nodes[number] = node
  }

  // MARK: One side

  private mutating func append(_ other: Int, to number: Int, _ link: ReferenceModel.Link) {
    nodes[number]?.lists[link.name, default: []].append(other)
    if !link.isOrdered { nodes[number]?.lists[link.name]?.sort() }
  }

  /// Updates the inverse side of a new link.
  private mutating func take(_ number: Int, _ link: ReferenceModel.Link, _ other: Int) {
    if link.isToMany {
      if !leads(number, link, to: other) { append(other, to: number, link) }
      return
    }
    if let former = nodes[number]?.ones[link.name], former != other { cut(former, link.back, number) }
    nodes[number]?.ones[link.name] = other
  }

  private mutating func cut(_ number: Int, _ link: ReferenceModel.Link, _ other: Int) {
    guard leads(number, link, to: other) else { return }
    guard link.isToMany else {
      nodes[number]?.ones[link.name] = nil
      return
    }
    nodes[number]?.lists[link.name]?.removeAll { $0 == other }
    if nodes[number]?.lists[link.name]?.isEmpty == true { nodes[number]?.lists[link.name] = nil }
  }

  // MARK: Comparison

  /// Links without a destination or an inverse.
  var brokenLinks: [String] {
    var broken: [String] = []
    for (number, node) in nodes {
      for link in ReferenceModel.links {
        for other in link.isToMany ? node.lists[link.name] ?? [] : [node.ones[link.name]].compactMap({ $0 })
        where !leads(other, link.back, to: number) {
          broken.append("#\(number).\(link.name) leads to #\(other), which does not lead back")
        }
      }
    }
    return broken.sorted()
  }

  /// The differences from another model.
  func differences(from other: ReferenceWorld) -> [String] {
    var result: [String] = []
    for number in Set(nodes.keys).union(other.nodes.keys).sorted() {
      guard let mine = nodes[number], let theirs = other.nodes[number] else {
        result.append(nodes[number] == nil ? "#\(number) is not there" : "#\(number) is there")
        continue
      }
      if mine.isLeaf != theirs.isLeaf { result.append("#\(number) is of another entity") }
      for (key, value) in mine.values where value != theirs.values[key] {
        result.append("#\(number).\(key) is \(value), not \(theirs.values[key] ?? .null)")
      }
      for link in ReferenceModel.links {
        let (one, two) = (mine.destinations(link), theirs.destinations(link))
        if one != two { result.append("#\(number).\(link.name) is \(one), not \(two)") }
      }
    }
    return result
  }
}

extension ReferenceWorld.Node {
  func destinations(_ link: ReferenceModel.Link) -> [Int] {
    link.isToMany ? lists[link.name] ?? [] : [ones[link.name]].compactMap { $0 }
  }

  var hasLinks: Bool { !ones.isEmpty || !lists.isEmpty }

  /// The part that a store keeps.
  var persistent: ReferenceWorld.Node {
    var result = self
    result.takeTransients(of: nil)
    return result
  }

  /// Takes the transient values of another node, or clears them.
  mutating func takeTransients(of other: ReferenceWorld.Node?) {
    values["mood"] = other?.values["mood"]
    for link in ReferenceModel.links where link.isTransient {
      ones[link.name] = other?.ones[link.name]
      lists[link.name] = other?.lists[link.name]
    }
  }
}
