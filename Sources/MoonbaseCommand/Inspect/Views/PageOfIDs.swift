import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The IDs of one page of a query.
struct PageOfIDs {
  let ids: [ManagedObjectID]

  init(_ query: InspectQuery, _ session: InspectSession) throws {
    ids = try session.context.fetchIDs(query.request)
  }
}
