#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  extension Parameters {
    /// Makes the parameters of a statement.
    init(_ values: [Value]) {
      self.init()
      for value in values { append(value) }
    }

    private mutating func append(_ value: Value) {
      switch value {
      case .list(let values): append(ArrayParameter(values))
      default: value.append(to: &self, as: value.parameterType)
      }
    }
  }

  extension ArrayParameter {
    /// An array of values of one kind. Numbers of several kinds become floating-point numbers, or decimals where one is
    /// a decimal.
    fileprivate init(_ values: [Value]) {
      let types = Set(values.map(\.parameterType))
      let type: PostgreSQLType =
        types.contains(.numeric) ? .numeric : types.count > 1 ? .double : types.first ?? .bigint
      self.init(type, expecting: values.count)
      for value in values { value.append(to: &self, as: type) }
    }
  }

  extension Value {
    /// The type of the value as a parameter of its own.
    var parameterType: PostgreSQLType {
      switch self {
      case .bool, .int, .objectID: .bigint
      case .double, .date: .double
      case .decimal: .numeric
      case .data: .bytea
      case .uuid: .uuid
      case .null, .string, .uri, .list, .map, .object: .text
      }
    }

    /// Appends a value as a parameter of a column's type. A value that the type cannot hold becomes NULL.
    func append(to sink: inout some ParameterSink, as type: PostgreSQLType) {
      switch (self, type) {
      case (.bool(let truth), .bigint): sink.append(Int64(truth ? 1 : 0))
      case (.int(let number), .bigint): sink.append(number)
      case (.objectID(let id), .bigint): sink.append(id.key)
      case (.double(let number), .double): number.isNaN ? sink.appendNull(type) : sink.append(number)
      case (.date(let date), .double): sink.append(date.timeIntervalSinceReferenceDate)
      case (.int(let number), .double): sink.append(Double(number))
      case (.decimal(let number), .numeric): sink.append(number.numeric)
      case (.int(let number), .numeric): sink.append(NumericText(number.description))
      case (.string(let text), .text): sink.append(text)
      case (.uri(let url), .text): sink.append(url.absoluteString)
      case (.data(let data), .bytea): sink.append(data)
      case (.uuid(let uuid), .uuid): sink.append(uuid)
      default: sink.appendNull(type)
      }
    }
  }

  extension Decimal {
    /// The decimal as its column holds it. NaN is stored as minus infinity, because it sorts before all numbers in
    /// memory.
    fileprivate var numeric: NumericText { NumericText(isNaN ? NumericText.leastText : description) }
  }

  extension ColumnKind {
    /// The type of a column.
    var type: PostgreSQLType {
      switch self {
      case .integer16, .integer32, .integer64, .boolean: .bigint
      case .double, .float, .date: .double
      case .decimal: .numeric
      case .string, .uri: .text
      case .data, .externalData: .bytea
      case .uuid: .uuid
      }
    }
  }
#endif
