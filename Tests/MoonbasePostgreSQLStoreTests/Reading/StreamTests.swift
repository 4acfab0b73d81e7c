#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQL
  @testable import MoonbasePostgreSQLStore

  /// Rows that are received while others are decoded, by `COPY` and by cursors. The behaviour suites compare the rows
  /// with those of other stores.
  @Suite struct StreamTests {
    private let bench: ServerBench
    private let statements = Lock<[String]>([])
    private static let count = 4000

    init() throws {
      var options = PostgreSQLStoreOptions()
      let statements = statements
      options.sqlLog = SQLLog { entry in
        statements.withLock { $0.append("\(entry.statement.prefix(12)) \(entry.rowCount)") }
      }
      bench = try ServerBench(options: options)
      try bench.save((0..<Self.count).map { "\($0)" })
      statements.withLock { $0 = [] }
    }

    private func names(_ objects: some Sequence<ManagedObject>) throws -> [String] {
      try objects.map { try $0.value(forKey: "firstName").string ?? "" }
    }

    @Test func aFetchIsOneStatement() throws {
      let context = try bench.context(bench.store)
      #expect(try names(context.fetch(FetchRequest("Person"))) == (0..<Self.count).map { "\($0)" })
      #expect(statements.withLock { $0 } == ["COPY (SELECT \(Self.count)"])
      var none = FetchRequest("Person")
      none.fetchOffset = Self.count
      #expect(try context.fetch(none).isEmpty)
      #expect(try context.fetch(FetchRequest("Department")).isEmpty)
    }

    /// The connection of a fetch that ends with an error, or before its last row, is not used again.
    @Test func aFetchThatEndsEarlyLeavesNoRows() throws {
      let person = try #require(bench.model.entity("Person"))
      let query = StoreQuery(entity: person, in: bench.model)
      for _ in 0..<3 {
        let session = try bench.store.beginReading(.oneCall)
        let rows = try session.rows(matching: query)
        #expect(try rows.next(upTo: 10).count == 10)
        session.end()
        #expect(throws: GraphError.self) { try rows.next(upTo: 10) }
      }
      #expect(try bench.count("7") == 1)
    }

    /// Faults, counts and a second walk use the connection of the walk while rows are on their way.
    @Test func otherReadsOfTheStateComeBetweenThePagesOfAWalk() throws {
      let context = try bench.context(bench.store)
      let walk = try context.fetchedObjects(FetchRequest("Person"))
      var second = try context.fetchedObjects(FetchRequest("Person")).makeIterator()
      var found: [String] = []
      for (index, object) in walk.enumerated() {
        found.append(try object.value(forKey: "firstName").string ?? "")
        #expect(try second.next()?.value(forKey: "firstName").string == found.last)
        if index % 500 == 0 { #expect(walk.count == Self.count) }
      }
      #expect(found == (0..<Self.count).map { "\($0)" })
      #expect(context.drainAccessorErrors().isEmpty)
      // The first page tells how heavy the rows are. Then more rows are sent at once.
      let sizes = statements.withLock { $0.filter { $0.hasPrefix("FETCH FORWAR") } }
      #expect(sizes.contains("FETCH FORWAR 512") && sizes.contains("FETCH FORWAR 2048"), "\(sizes)")
    }

    // MARK: The form of COPY

    /// A message of libpq, which the rows release.
    private func message(_ parts: [[UInt8]]) -> UnsafeRawBufferPointer {
      let bytes = Array(parts.joined())
      let copy = UnsafeMutableRawBufferPointer(start: malloc(max(1, bytes.count)), count: bytes.count)
      copy.copyBytes(from: bytes)
      return UnsafeRawBufferPointer(copy)
    }

    @Test func aDamagedMessageIsRefused() {
      let header = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      let row: [UInt8] = [0, 2, 0, 0, 0, 1, 65, 0xff, 0xff, 0xff, 0xff]
      let rows = CopiedRows(expecting: 3)
      #expect(rows.add(message([header, row]), isFirst: true))
      #expect(rows.add(message([row]), isFirst: false))
      #expect(rows.add(message([[0xff, 0xff]]), isFirst: false))
      let result = ResultRows(rows)
      #expect(result.count == 2 && result.columnCount == 2)
      #expect(result.text(1, 0) == "A" && !result.isNull(1, 0) && result.isNull(1, 1) && result.bytes(1, 1).isEmpty)
      let short = Array(row.dropLast())
      let damaged: [[UInt8]] = [
        [], [0], short, row + [0], [0, 1, 0, 0, 0, 1, 65], [0, 2, 0, 0, 0, 9, 65, 0xff, 0xff, 0xff, 0xff],
        [0xff, 0xff, 0],
      ]
      for bytes in damaged { #expect(!rows.add(message([bytes]), isFirst: false), "\(bytes)") }
      for bytes in [row, Array(header.dropLast()), [0] + header + row] {
        #expect(!CopiedRows(expecting: 1).add(message([bytes]), isFirst: true), "\(bytes)")
      }
    }
  }
#endif
