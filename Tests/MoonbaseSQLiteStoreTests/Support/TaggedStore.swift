import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport

/// A store of two `P` and twenty `T`, which `P.tags` and `T.ps` link, with `Z_1TAGS` as the table of pairs.
struct TaggedStore {
  let people: PeopleStore
  let raw: RawDatabase
  let owners: [ManagedObjectID]
  let tags: [ManagedObjectID]

  init() throws {
    people = try PeopleStore(
      ManagedObjectModel {
        EntityDescription("P") {
          AttributeDescription("n", type: .integer64)
          RelationshipDescription.toMany("tags", destination: "T", inverse: "ps")
        }
        EntityDescription("T") { RelationshipDescription.toMany("ps", destination: "P", inverse: "tags") }
      })
    let people = people
    owners = try people.insert(people.row("P"), people.row("P"))
    let rows = try (0..<20).map { _ in try people.row("T") }
    try people.save { $0.inserted = RowBatch(rows) }
    tags = rows.map(\.id)
    raw = try RawDatabase(people.folder.file())
  }

  func links(_ owner: Int, added: [ManagedObjectID] = [], removed: [ManagedObjectID] = []) -> StoreChanges.Links {
    let slot = people.entity("P").slot("tags")!
    return StoreChanges.Links(owner: owners[owner], slot: slot, added: added, removed: removed, order: nil)
  }

  /// All rows and pairs of the file.
  func contents() throws -> [String] {
    try raw.rows("SELECT 'P', Z_PK, Z_OPT, ZN FROM ZP UNION ALL SELECT 'T', Z_PK, Z_OPT, 0 FROM ZT ORDER BY 1, 2")
      + raw.rows("SELECT Z_1PS, Z_2TAGS FROM Z_1TAGS ORDER BY 1, 2")
  }
}
