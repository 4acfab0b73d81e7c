#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Reads the columns that a query selects instead of rows.
  struct ValueReader: Sendable {
    private let forms: [ColumnSelect.Form]
    private let query: StoreQuery
    private let path: String
    private let table: String

    init(_ select: PreparedSelect, query: StoreQuery, in store: PostgreSQLStore) {
      forms = select.forms
      self.query = query
      path = store.address.description
      table = select.reader.select.table
    }

    func collect(_ rows: ResultRows, _ range: Range<Int>, into collector: RowCollector) throws {
      var memory = HostMemory()
      var held = collector.weight
      for row in range {
        try HostWork.charge()
        let page = collector.page(for: query.entity.symbol, slotCount: forms.count)
        page.beginRow(key: 0, version: 0)
        for (place, form) in forms.enumerated() { try read(form, of: rows, row: row, at: place, into: page) }
        page.endRow()
        try memory.hold(collector.weight - held)
        held = collector.weight
      }
    }

    @inline(__always)
    private func read(
      _ form: ColumnSelect.Form, of rows: ResultRows, row: Int, at place: Int, into page: RowPageBuilder
    ) throws {
      switch form {
      case .stored(let kind):
        do {
          try ColumnReader.read(kind, of: rows, row: row, column: place, into: page, slot: place)
        } catch {
          let name = query.columns?.columns[place].keyPath?.joined(separator: ".") ?? ""
          throw GraphError(
            .invalidStore,
            message:
              "\(path) is damaged: table \(table): \(query.entity.name).\(name) \(error.description); put it right",
            entity: query.entity.name, property: name)
        }
      case .number:
        guard !rows.isNull(row, place) else { return }
        if rows.type(place) == .double {
          page.set(double: rows.double(row, place), slot: place)
        } else {
          page.set(integer: rows.integer(row, place), slot: place)
        }
      }
    }
  }
#endif
