import MoonbaseSQL
import MoonbaseSQLite

/// The last places of ordered lists to which a connection appended: to append again, nobody looks at all members. They hold until a
/// save fails, another connection writes the file, or a member comes of which the save does not say where it stands.
final class OrderEnds {
  /// The column that keeps the places of one relationship's destinations.
  struct Column: Hashable {
    var table: String
    var name: String
  }

  private struct List: Hashable {
    var column: Column
    var owner: Int64
  }

  private static let greatestCount = 1024

  private var places: [Column: [Int64: Int64]] = [:]
  private var count = 0
  /// Members that came to these lists in this save, and have no place yet.
  private var unplaced: [List: [Int64]] = [:]
  private var version: Int64?

  /// Whether nothing is known, so that nothing need be noted.
  var isEmpty: Bool { count == 0 }

  /// A save begins.
  func begin(on connection: Connection) throws {
    let current = try connection.versionByOthers()
    if version != current { forgetAll() }
    version = current
  }

  /// A save has written all places. Lists with members that got none are forgotten.
  func finish() {
    for list in unplaced.keys { set(list.column, list.owner, to: nil) }
    unplaced = [:]
  }

  func forgetAll() { (places, count, unplaced) = ([:], 0, [:]) }

  /// Members may come to lists of a table of pairs from their other side.
  func forget(table: String, but name: String?) {
    for column in places.keys where column.table == table && column.name != name {
      count -= places.removeValue(forKey: column)?.count ?? 0
    }
  }

  /// A member came to a list.
  func note(_ member: Int64, in column: Column, of owner: Int64) {
    guard places[column]?[owner] != nil else { return }
    unplaced[List(column: column, owner: owner), default: []].append(member)
  }

  /// The last place of a list to which these are about to be appended, where it is known, and nobody else came.
  func last(_ column: Column, of owner: Int64, before members: [Int64]) -> Int64? {
    let came = unplaced.removeValue(forKey: List(column: column, owner: owner)) ?? []
    guard let place = places[column]?[owner] else { return nil }
    if came.isEmpty { return place }
    let members = Set(members)
    return came.allSatisfy(members.contains) ? place : nil
  }

  /// The last place of a list is this one; nil where nobody knows.
  func set(_ column: Column, _ owner: Int64, to place: Int64?) {
    if count >= Self.greatestCount, place != nil { forgetAll() }
    let known = places[column]?[owner] != nil
    places[column, default: [:]][owner] = place
    count += (place == nil ? 0 : 1) - (known ? 1 : 0)
    if place == nil { unplaced[List(column: column, owner: owner)] = nil }
  }
}
