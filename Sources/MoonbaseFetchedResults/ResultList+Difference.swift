import MoonbaseGraph
import MoonbaseModel

/// The difference between two lists.
struct ListDifference {
  /// The indexes of removed objects in the old list, ascending.
  var deleted: [Int] = []
  /// The indexes of new objects in the new list, ascending.
  var inserted: [Int] = []
  /// The old and new indexes of moved objects, ascending by the new index.
  var moved: [(old: Int, new: Int)] = []
  /// The old and new indexes of objects with changed values, ascending.
  var updated: [(old: Int, new: Int)] = []

  /// Compares whole lists. `touched` returns whether an object's values may have changed.
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

  /// The change to report for a difference between this list and a newer one.
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
