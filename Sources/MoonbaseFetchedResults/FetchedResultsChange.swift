import MoonbaseGraph
public import MoonbaseModel

/// A position in a list that is divided into sections.
public struct FetchedIndexPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The index of the section.
  public var section: Int
  /// The index within the section.
  public var item: Int

  /// Makes an index path.
  public init(section: Int, item: Int) { (self.section, self.item) = (section, item) }

  /// Whether one position comes before another.
  public static func < (left: Self, right: Self) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }

  /// The position as `[section, item]`.
  public var description: String { "[\(section), \(item)]" }
}

/// The change of a fetched-results controller's list by one call that changed objects of its context.
///
/// Former positions refer to the old list and new positions to the new list, as table and collection views require:
/// deletions apply to the old list first, then sections and objects are inserted at their positions in the new list.
///
/// ```swift
/// controller.didChangeContent = { change in
///   for case .insert(let id, let place) in change.objects { print(id, "is new at", place) }
/// }
/// ```
public struct FetchedResultsChange: Sendable, Hashable {
  /// The change of one object.
  public enum ObjectChange: Sendable, Hashable {
    /// The object left the list.
    case delete(ManagedObjectID, from: FetchedIndexPath)
    /// The object entered the list.
    case insert(ManagedObjectID, at: FetchedIndexPath)
    /// The object moved relative to others, or to another section. Its values may have changed too.
    case move(ManagedObjectID, from: FetchedIndexPath, to: FetchedIndexPath)
    /// The object may have other values, or got its permanent ID, without moving relative to others.
    case update(ManagedObjectID, at: FetchedIndexPath, now: FetchedIndexPath)
  }

  /// The indexes of removed sections in the old list, ascending.
  public let deletedSections: [Int]
  /// The indexes of new sections in the new list, ascending.
  public let insertedSections: [Int]
  /// The changes of objects: deletions from the end of the old list, insertions from the start of the new list, moves,
  /// updates.
  public let objects: [ObjectChange]

  init(deletedSections: [Int], insertedSections: [Int], objects: [ObjectChange]) {
    (self.deletedSections, self.insertedSections, self.objects) = (deletedSections, insertedSections, objects)
  }

  /// Whether nothing changed.
  public var isEmpty: Bool { objects.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

  /// Turns the old list into the new list, section by section.
  ///
  /// Traps if `sections` is not the old list.
  public func apply(to sections: inout [[ManagedObjectID]]) {
    apply(to: &sections) { $0 }
  }

  /// Turns a list with an element for each object into the new list; `element` makes the elements of new and changed
  /// objects.
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
