import MoonbaseSQL
import MoonbaseSQLite

/// The last places of ordered lists to which a connection appended, so that the next append need not read all members.
/// Places are forgotten when a save fails, when another connection writes the file, or when a list gets a member
/// without a known place.
///
/// Belongs to the writing session, so it is used by one save at a time. At most 1024 lists are remembered.
final class OrderEnds {
  /// The column with the places of one relationship's destinations.
  struct Column: Hashable {
    /// The table with the column.
    var table: String
    /// The name of the column.
    var name: String
  }

  /// The list of one owner.
  private struct List: Hashable {
    /// The column with its positions.
    var column: Column
    /// The key of the owner.
    var owner: Int64
  }

  /// Beyond this number all lists are forgotten.
  private static let greatestCount = 1024

  /// The last positions by column and owner's key.
  private var places: [Column: [Int64: Int64]] = [:]
  /// The number of known positions.
  private var count = 0
  /// Members that were added to these lists in this save and have no place yet.
  private var unplaced: [List: [Int64]] = [:]
  /// The count of commits by other connections at the last save.
  private var version: Int64?

  /// Whether no places are known, so that nothing need be noted.
  var isEmpty: Bool { count == 0 }

  /// Called when a save begins. Forgets everything if another connection wrote.
  func begin(on connection: Connection) throws {
    let current = try connection.versionByOthers()
    if version != current { forgetAll() }
    version = current
  }

  /// Called when a save has written all places. Forgets lists with members that got no place.
  func finish() {
    for list in unplaced.keys { set(list.column, list.owner, to: nil) }
    unplaced = [:]
  }

  /// Called when a save fails.
  func forgetAll() { (places, count, unplaced) = ([:], 0, [:]) }

  /// Forgets the lists of a pair table, except those of one column: the inverse side may have added members.
  func forget(table: String, but name: String?) {
    for column in places.keys where column.table == table && column.name != name {
      count -= places.removeValue(forKey: column)?.count ?? 0
    }
  }

  /// Notes a new member of a list. Only lists whose last position is known are noted.
  func note(_ member: Int64, in column: Column, of owner: Int64) {
    guard places[column]?[owner] != nil else { return }
    unplaced[List(column: column, owner: owner), default: []].append(member)
  }

  /// The last place of a list to which these members are about to be appended. Nil where it is not known, or where the
  /// list got other members. Removes the noted members of this list.
  func last(_ column: Column, of owner: Int64, before members: [Int64]) -> Int64? {
    let came = unplaced.removeValue(forKey: List(column: column, owner: owner)) ?? []
    guard let place = places[column]?[owner] else { return nil }
    if came.isEmpty { return place }
    let members = Set(members)
    return came.allSatisfy(members.contains) ? place : nil
  }

  /// Sets the last place of a list; nil where it is not known. A nil position forgets the list.
  func set(_ column: Column, _ owner: Int64, to place: Int64?) {
    if count >= Self.greatestCount, place != nil { forgetAll() }
    let known = places[column]?[owner] != nil
    places[column, default: [:]][owner] = place
    count += (place == nil ? 0 : 1) - (known ? 1 : 0)
    if place == nil { unplaced[List(column: column, owner: owner)] = nil }
  }
}
