import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseTestSupport

/// A model with the layout of a file that is about to be made, and queries of it as SQL.
struct SQLBench {
  let model: ResolvedModel
  let layout: StoreLayout

  init(_ description: ManagedObjectModel = People.model()) throws {
    model = try description.resolved()
    var builder = LayoutBuilder(model: model, entities: model.entities, file: nil)
    layout = try builder.build()
  }

  func query(_ entity: String, _ predicate: MoonbaseModel.Predicate? = nil) -> StoreQuery {
    var query = StoreQuery(entity: model.entity(entity)!, in: model)
    query.predicate = predicate
    return query
  }

  func select(_ columns: [String], _ query: StoreQuery) throws -> SQLFragment {
    try SelectBuilder(query, entityCondition: nil, layout: layout, store: StoreNumber("A")).select(columns)
  }
}
