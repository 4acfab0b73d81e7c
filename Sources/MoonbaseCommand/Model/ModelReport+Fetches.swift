import MoonbaseModel

extension ModelReport {
  /// A column of a request for dictionaries.
  struct Column: Encodable {
    /// The name of the column.
    let name: String
    /// The expression in the format of predicates.
    let expression: String
    /// The type of the values, or nil if it is not set.
    let type: String?

    /// Converts the parts of a column to texts.
    ///
    /// - Parameter column: The column of the model.
    init(_ column: FetchColumn) {
      name = column.name
      expression = "\(column.expression)"
      type = column.resultType?.modelName
    }
  }

  /// A fetch request template or a fetched property.
  struct Fetch: Encodable {
    /// The name, or nil for a request without one.
    var name: String?
    /// The request with its predicate and its order.
    let request: FetchRequest
    /// The fetched property, or nil for a template.
    var property: FetchedPropertyDescription?

    /// Creates the report of a template.
    init(_ name: String? = nil, request: FetchRequest) {
      self.name = name
      self.request = request
    }

    /// Creates the report of a fetched property.
    init(property: FetchedPropertyDescription) {
      name = property.name
      request = property.fetchRequest
      self.property = property
    }

    /// Writes all settings, including default values.
    func encode(to encoder: any Encoder) throws {
      var report = encoder.container(keyedBy: ReportKey.self)
      try report.encodeIfPresent(name, forKey: "name")
      try report.encode(request.sortDescriptors.map { "\($0)" }, forKey: "sort")
      try report.encode(whatIsSaidBy: request)
      if let property { try report.encode(whatIsSaidBy: property) }
    }
  }
}
