import MoonbaseModel

/// What is to be told when one list takes the place of another.
struct ListDifference {
  /// The places in the old list of objects that are gone, ascending.
  var deleted: [Int] = []
  /// The places in the new list of objects that are new, ascending.
  var inserted: [Int] = []
  /// The places before and after of objects that stand elsewhere, ascending by the second.
  var moved: [(old: Int, new: Int)] = []
  /// The places before and after of objects with other values, ascending.
  var updated: [(old: Int, new: Int)] = []

  /// Compares whole lists. `touched` are objects with other values.
  init(from old: inout ResultList, to new: inout ResultList, touched: (ManagedObjectID) -> Bool) {
    var common: [(old: Int, new: Int)] = []
    for (place, id) in new.ids.enumerated() {
      if let former = old.place(of: id) { common.append((former, place)) } else { inserted.append(place) }
    }
    for (place, id) in old.ids.enumerated() where new.place(of: id) == nil { deleted.append(place) }
    let (before, after) = (old, new)
    let staying = common.filter { before.sectionNumber(at: $0.old) == after.sectionNumber(at: $0.new) }
    let kept = placesOfLongestOrder(staying) { $0.old < $1.old }.map { staying[$0] }
    var next = kept[...]
    for pair in common {
      if next.first?.new == pair.new {
        next.removeFirst()
        if touched(new.ids[pair.new]) { updated.append(pair) }
      } else {
        moved.append(pair)
      }
    }
  }

  init() {}
}

extension ResultList {
  fileprivate func sectionNumber(at place: Int) -> Int { sections[section(of: place)].number }

  /// What is told of a difference of this list to a newer one.
  func change(_ difference: ListDifference, to new: ResultList) -> FetchedResultsChange {
    let numbers = (old: Set(sections.map(\.number)), new: Set(new.sections.map(\.number)))
    let gone = sections.indices.filter { !numbers.new.contains(sections[$0].number) }
    let came = new.sections.indices.filter { !numbers.old.contains(new.sections[$0].number) }
    var objects: [FetchedResultsChange.ObjectChange] = []
    for place in difference.deleted.reversed() { objects.append(.delete(ids[place], from: indexPath(of: place))) }
    for place in difference.inserted { objects.append(.insert(new.ids[place], at: new.indexPath(of: place))) }
    for (before, after) in difference.moved {
      objects.append(.move(new.ids[after], from: indexPath(of: before), to: new.indexPath(of: after)))
    }
    for (before, after) in difference.updated {
      objects.append(.update(new.ids[after], at: indexPath(of: before), now: new.indexPath(of: after)))
    }
    return FetchedResultsChange(deletedSections: gone, insertedSections: came, objects: objects)
  }
}
