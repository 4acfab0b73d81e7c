import MoonbaseModel

/// The naive model: what objects have, in plain values, and what each change makes of that.
///
/// Objects are known by running numbers. There are no faults in it, no rows, no journal and no list of what came and went.
struct ReferenceWorld: Equatable {
  /// One object.
  struct Node: Equatable {
    var isLeaf = false
    var values: [String: Value] = [:]
    /// Destinations of to-one relationships.
    var ones: [String: Int] = [:]
    /// Destinations of to-many relationships; of those without an order by number.
    var lists: [String: [Int]] = [:]
  }

  var nodes: [Int: Node] = [:]
  /// Objects that are to go when delete rules are applied.
  var marked: Set<Int> = []

  /// Who is there and not to go, by number.
  var live: [Int] { nodes.keys.filter { !marked.contains($0) }.sorted() }

  /// Without those that are to go.
  var visible: ReferenceWorld {
    guard !marked.isEmpty else { return self }
    var result = self
    for number in marked { result.nodes[number] = nil }
    for number in result.nodes.keys { result.forget(marked, in: number) }
    result.marked = []
    return result
  }

  /// What a store keeps.
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

  /// A to-one relationship leads elsewhere, and the other sides follow.
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

  /// Applies delete rules: children go with their parents, and the rest forgets who goes.
  mutating func settle() {
    guard !marked.isEmpty else { return }
    remove(going(with: marked))
    marked = []
  }

  /// These, their children, and theirs.
  func going(with numbers: Set<Int>) -> Set<Int> {
    var (gone, waiting) = (numbers, Array(numbers))
    while let number = waiting.popLast() {
      for child in nodes[number]?.lists["children"] ?? [] where gone.insert(child).inserted { waiting.append(child) }
    }
    return gone
  }

  /// Who keeps these from going: wards of them, or of those that would go with them.
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

  /// An object leads to another one, because that leads to it.
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

  /// Where a relationship does not lead back, or leads to nothing.
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

  /// What this has otherwise than another one.
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

  /// What a store keeps.
  var persistent: ReferenceWorld.Node {
    var result = self
    result.takeTransients(of: nil)
    return result
  }

  /// What no store has becomes that of another one, or goes.
  mutating func takeTransients(of other: ReferenceWorld.Node?) {
    values["mood"] = other?.values["mood"]
    for link in ReferenceModel.links where link.isTransient {
      ones[link.name] = other?.ones[link.name]
      lists[link.name] = other?.lists[link.name]
    }
  }
}
