import MoonbaseModel

extension ModelReport {
  struct Column: Encodable {
    let name: String
    let expression: String
    let type: String?

    init(_ column: FetchColumn) {
      name = column.name
      expression = "\(column.expression)"
      type = column.resultType?.modelName
    }
  }

  /// A fetch request template or a fetched property.
  struct Fetch: Encodable {
    var name: String?
    let request: FetchRequest
    var property: FetchedPropertyDescription?

    init(_ name: String? = nil, request: FetchRequest) {
      self.name = name
      self.request = request
    }

    init(property: FetchedPropertyDescription) {
      name = property.name
      request = property.fetchRequest
      self.property = property
    }

    func encode(to encoder: any Encoder) throws {
      var report = encoder.container(keyedBy: ReportKey.self)
      try report.encodeIfPresent(name, forKey: "name")
      try report.encode(request.sortDescriptors.map { "\($0)" }, forKey: "sort")
      try report.encode(whatIsSaidBy: request)
      if let property { try report.encode(whatIsSaidBy: property) }
    }
  }
}
