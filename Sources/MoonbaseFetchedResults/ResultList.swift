import MoonbaseGraph
import MoonbaseModel

/// A sorted list of object IDs, divided into sections: ranges whose objects have the same section name.
///
/// A change takes time proportional to the changed objects and to the number of sections, whose ranges are computed
/// again.
struct ResultList {
  struct Section {
    /// Identifies the section across lists.
    let number: Int
    let name: String
    /// The index of the first object.
    var start: Int
    var count: Int

    var end: Int { start + count }
  }

  /// A new object with its place in the list.
  struct Arrival {
    let id: ManagedObjectID
    let place: Int
    let name: String
  }

  /// A section name that occurs again after another name.
  struct NameOutOfOrder: Error {
    let name: String
    let place: Int
  }

  private(set) var ids = MemberList()
  private(set) var sections: [Section] = []
  private var lastNumber = 0

  init() {}

  /// Makes a list. Sections that `former` has too, in the same order, keep their numbers.
  init(_ ids: [ManagedObjectID], names: [String], after former: ResultList) throws(NameOutOfOrder) {
    self.ids = MemberList(unique: ids)
    lastNumber = former.lastNumber
    var stretches: [(name: String, start: Int)] = []
    for (place, name) in names.enumerated() where place == 0 || names[place - 1] != name {
      stretches.append((name, place))
    }
    try Self.check(stretches)
    let old = Dictionary(former.sections.enumerated().map { ($1.name, $0) }) { first, _ in first }
    let common = stretches.compactMap { old[$0.name] }
    let kept = Set(placesOfLongestOrder(common, <).map { common[$0] })
    for (index, stretch) in stretches.enumerated() {
      let end = index + 1 < stretches.count ? stretches[index + 1].start : names.count
      let same = old[stretch.name].flatMap { kept.contains($0) ? former.sections[$0].number : nil }
      sections.append(
        Section(number: same ?? newNumber(), name: stretch.name, start: stretch.start, count: end - stretch.start))
    }
  }

  private mutating func newNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Throws if a section name occurs in two separate ranges.
  private static func check(_ stretches: [(name: String, start: Int)]) throws(NameOutOfOrder) {
    var known: Set<String> = []
    for stretch in stretches where !known.insert(stretch.name).inserted {
      throw NameOutOfOrder(name: stretch.name, place: stretch.start)
    }
  }

  var count: Int { ids.count }

  mutating func place(of id: ManagedObjectID) -> Int? { ids.index(of: id) }

  mutating func rename(_ old: ManagedObjectID, to new: ManagedObjectID) { ids.replace(old, by: new) }

  /// The index of the section at a place.
  func section(of place: Int) -> Int {
    var (low, high) = (0, sections.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if sections[middle].start <= place { low = middle } else { high = middle }
    }
    return low
  }

  func indexPath(of place: Int) -> FetchedIndexPath {
    let section = section(of: place)
    return FetchedIndexPath(section: section, item: place - sections[section].start)
  }

  /// The section name at a place.
  func name(at place: Int) -> String { sections[section(of: place)].name }

  // MARK: Changing

  /// Removes the objects at ascending places; empty sections stay until new objects have been inserted.
  mutating func remove(at places: [Int]) {
    guard !places.isEmpty else { return }
    for place in places { sections[section(of: place)].count -= 1 }
    for id in places.map({ ids[$0] }) { ids.remove(id, keepingOrder: true) }
    countAnew()
  }

  /// Inserts an object at a place. Afterwards `assign` assigns all new objects to sections.
  mutating func insert(_ id: ManagedObjectID, at place: Int) {
    ids.append(id)
    ids.move(from: ids.count - 1, to: place)
  }

  /// Assigns new objects, in the list's order, to sections; adds sections for new names and removes empty sections.
  mutating func assign(_ arrivals: [Arrival]) throws(NameOutOfOrder) {
    var taking = SectionTaking(sections)
    for (before, arrival) in arrivals.enumerated() {
      guard !taking.join(arrival.name, at: arrival.place - before) else { continue }
      guard
        taking.begin(Section(number: newNumber(), name: arrival.name, start: 0, count: 1), at: arrival.place - before)
      else { throw NameOutOfOrder(name: arrival.name, place: arrival.place) }
    }
    sections = taking.result.filter { $0.count > 0 }
    countAnew()
    if taking.hasNew { try Self.check(sections.map { ($0.name, $0.start) }) }
  }

  /// Computes the starts of the sections from their counts.
  private mutating func countAnew() {
    var start = 0
    for index in sections.indices {
      sections[index].start = start
      start += sections[index].count
    }
  }
}

/// Assigns new objects to sections, from the first place to the last. Places are those of the list without the new
/// objects.
private struct SectionTaking {
  private let sections: [ResultList.Section]
  /// The number of new objects in each section.
  private var arrivals: [Int]
  private var done: [ResultList.Section] = []
  /// The index of the first section that is not complete.
  private var next = 0
  /// The place of the last complete section if it is new; it may take further objects at the same place.
  private var placeOfNew: Int?
  private(set) var hasNew = false

  init(_ sections: [ResultList.Section]) {
    self.sections = sections
    arrivals = [Int](repeating: 0, count: sections.count)
  }

  var result: [ResultList.Section] { done + (next..<sections.count).map(withArrivals) }

  /// The section at an index, including its new objects.
  private func withArrivals(_ index: Int) -> ResultList.Section {
    var section = sections[index]
    section.count += arrivals[index]
    return section
  }

  private mutating func finishNext() {
    done.append(withArrivals(next))
    next += 1
  }

  /// Adds an object to a section of its name that includes the place, or is empty there; returns false if there is
  /// none.
  mutating func join(_ name: String, at place: Int) -> Bool {
    while next < sections.count, sections[next].end < place { finishNext() }
    if placeOfNew == place, done[done.count - 1].name == name {
      done[done.count - 1].count += 1
      return true
    }
    var index = next
    while index < sections.count, sections[index].start <= place {
      if sections[index].name == name {
        while next < index { finishNext() }
        arrivals[index] += 1
        placeOfNew = nil
        return true
      }
      index += 1
    }
    return false
  }

  /// Begins a new section at a place; returns false if the place is within another section.
  mutating func begin(_ section: ResultList.Section, at place: Int) -> Bool {
    while next < sections.count, sections[next].end <= place, sections[next].count + arrivals[next] > 0 { finishNext() }
    if next < sections.count, sections[next].start < place { return false }
    done.append(section)
    (placeOfNew, hasNew) = (place, true)
    return true
  }
}
