public import MoonbaseModel

/// A place in a list that is divided into sections.
public struct FetchedIndexPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number of the section, from 0.
  public var section: Int
  /// The place within the section, from 0.
  public var item: Int

  /// A place.
  public init(section: Int, item: Int) { (self.section, self.item) = (section, item) }

  /// Whether one place comes before another.
  public static func < (left: Self, right: Self) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }

  /// The place as `[section, item]`.
  public var description: String { "[\(section), \(item)]" }
}

/// What became of the list of a fetched-results controller when a call changed objects of its context: all at once.
///
/// Places before the change are those of the old list, places after it those of the new one, as tables and collection views want them:
/// what goes is taken out of the old list, then come sections and objects at their places in the new one.
///
/// ```swift
/// controller.didChangeContent = { change in
///   for case .insert(let id, let place) in change.objects { print(id, "is new at", place) }
/// }
/// ```
public struct FetchedResultsChange: Sendable, Hashable {
  /// What became of one object.
  public enum ObjectChange: Sendable, Hashable {
    /// It is no longer in the list.
    case delete(ManagedObjectID, from: FetchedIndexPath)
    /// It is new in the list.
    case insert(ManagedObjectID, at: FetchedIndexPath)
    /// It is elsewhere among the others, or in another section. Its values may be others too.
    case move(ManagedObjectID, from: FetchedIndexPath, to: FetchedIndexPath)
    /// It may have other values, or has its permanent ID, and stays where it is among the others.
    case update(ManagedObjectID, at: FetchedIndexPath, now: FetchedIndexPath)
  }

  /// The numbers of sections that are gone, in the old list, ascending.
  public let deletedSections: [Int]
  /// The numbers of sections that are new, in the new list, ascending.
  public let insertedSections: [Int]
  /// What became of objects: deletions from the end of the old list on, insertions from the beginning of the new one on, moves, updates.
  public let objects: [ObjectChange]

  init(deletedSections: [Int], insertedSections: [Int], objects: [ObjectChange]) {
    (self.deletedSections, self.insertedSections, self.objects) = (deletedSections, insertedSections, objects)
  }

  /// Whether nothing changed.
  public var isEmpty: Bool { objects.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

  /// Makes the new list of the old one, section by section.
  ///
  /// Traps where `sections` is not the list that the change is one of.
  public func apply(to sections: inout [[ManagedObjectID]]) {
    apply(to: &sections) { $0 }
  }

  /// Makes the new list of the old one, which has something else for each object; `element` makes it for what comes or changed.
  public func apply<Element>(to sections: inout [[Element]], _ element: (ManagedObjectID) throws -> Element) rethrows {
    var (going, coming, updated):
      ([FetchedIndexPath], [(ManagedObjectID, FetchedIndexPath)], [(ManagedObjectID, FetchedIndexPath)])
    (going, coming, updated) = ([], [], [])
    for change in objects {
      switch change {
      case .delete(_, let place): going.append(place)
      case .insert(let id, let place): coming.append((id, place))
      case .move(let id, let old, let new):
        going.append(old)
        coming.append((id, new))
      case .update(let id, _, let now): updated.append((id, now))
      }
    }
    for place in going.sorted(by: >) { sections[place.section].remove(at: place.item) }
    for section in deletedSections.reversed() { sections.remove(at: section) }
    for section in insertedSections { sections.insert([], at: section) }
    for (id, place) in coming.sorted(by: { $0.1 < $1.1 }) {
      sections[place.section].insert(try element(id), at: place.item)
    }
    for (id, place) in updated { sections[place.section][place.item] = try element(id) }
  }
}
