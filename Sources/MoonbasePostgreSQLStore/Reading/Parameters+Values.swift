#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  extension Parameters {
    /// The values of a statement.
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
    /// Values of one kind; numbers of several are floating-point numbers, or decimals where one is.
    fileprivate init(_ values: [Value]) {
      let types = Set(values.map(\.parameterType))
      let type: PostgreSQLType =
        types.contains(.numeric) ? .numeric : types.count > 1 ? .double : types.first ?? .bigint
      self.init(type, expecting: values.count)
      for value in values { value.append(to: &self, as: type) }
    }
  }

  extension Value {
    /// How a value is sent by itself.
    fileprivate var parameterType: PostgreSQLType {
      switch self {
      case .bool, .int, .objectID: .bigint
      case .double, .date: .double
      case .decimal: .numeric
      case .data: .bytea
      case .uuid: .uuid
      case .null, .string, .uri, .list, .map, .object: .text
      }
    }

    /// Sends a value as one of a column's type. What the type lacks is NULL.
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
    /// As a column holds it: what is no number comes before all numbers, in memory and as minus infinity.
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
