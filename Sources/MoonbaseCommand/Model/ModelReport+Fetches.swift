import MoonbaseModel

extension ModelReport {
  /// A fetch request template or a fetched property.
  struct Fetch: Encodable {
    struct Column: Encodable {
      let name: String
      let expression: String
      let type: String?
    }

    let name: String
    let entity: String
    let predicate: String?
    let sort: [String]
    let limit: Int
    let offset: Int
    let batch: Int
    let result: String
    let columns: [Column]?
    let groupBy: [String]?
    let having: String?
    let distinct: Bool
    let prefetch: [String]?
    let subentities: Bool
    let pendingChanges: Bool
    let propertyValues: Bool
    let faults: Bool
    let refresh: Bool
    /// Of a fetched property only.
    var optional: Bool?
    /// Of a fetched property only.
    var renamingIdentifier: String?
    /// Of a fetched property only.
    var userInfo: [String: ReportValue]?
  }
}

extension ModelReport.Fetch {
  init(_ name: String, _ request: FetchRequest) {
    self.name = name
    entity = request.entityName
    predicate = request.predicate.map { "\($0)" }
    sort = request.sortDescriptors.map { "\($0)" }
    limit = request.fetchLimit
    offset = request.fetchOffset
    batch = request.fetchBatchSize
    result = request.resultType.modelName
    let columns = request.propertiesToFetch.map {
      Column(name: $0.name, expression: "\($0.expression)", type: $0.resultType?.modelName)
    }
    self.columns = columns.isEmpty ? nil : columns
    groupBy = request.propertiesToGroupBy.isEmpty ? nil : request.propertiesToGroupBy
    having = request.havingPredicate.map { "\($0)" }
    distinct = request.returnsDistinctResults
    let paths = request.relationshipKeyPathsForPrefetching
    prefetch = paths.isEmpty ? nil : paths
    subentities = request.includesSubentities
    pendingChanges = request.includesPendingChanges
    propertyValues = request.includesPropertyValues
    faults = request.returnsObjectsAsFaults
    refresh = request.shouldRefreshRefetchedObjects
  }

  init(_ property: FetchedPropertyDescription) {
    self.init(property.name, property.fetchRequest)
    optional = property.isOptional
    renamingIdentifier = property.renamingIdentifier
    userInfo = ModelReport.userInfo(property.userInfo)
  }
}
