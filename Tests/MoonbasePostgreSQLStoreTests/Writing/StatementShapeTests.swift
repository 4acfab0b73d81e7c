#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// The shapes of all statements that a store sends (`StatementShapes`).
  @Suite struct StatementShapeTests {
    @Test(arguments: [
      "CREATE TRIGGER a AFTER INSERT ON ZPERSON EXECUTE FUNCTION f()", "SELECT pg_advisory_lock(1)", "LISTEN saves",
      "CREATE TABLE a (b bigint REFERENCES c)", "SET CONSTRAINTS ALL DEFERRED", "CREATE SEQUENCE a",
      "CREATE TABLE a (b bigint GENERATED ALWAYS AS (c + 1) STORED)", "BEGIN ISOLATION LEVEL SERIALIZABLE",
      "INSERT INTO a SELECT * FROM unnest($1) ON CONFLICT (b) DO UPDATE SET b = 1",
      "SELECT a FROM b, LATERAL (SELECT 1) c",
    ])
    func aShapeThatCitusLacksIsRefused(_ sql: String) {
      #expect(StatementShapes.refusal(of: sql) != nil)
    }

    @Test func aSubqueryThatUsesTheQueryAroundItIsFound() {
      #expect(!StatementShapes.hasCorrelatedSubquery("SELECT t0.a FROM x t0 WHERE t0.a IN (SELECT t1.b FROM y t1)"))
      #expect(
        StatementShapes.hasCorrelatedSubquery("SELECT 1 FROM x t0 WHERE EXISTS (SELECT 1 FROM y t1 WHERE t1.b = t0.a)"))
    }

    /// A store with a history, all kinds of changes, and predicates of all kinds.
    @Test func allStatementsOfAStoreHavePermittedShapes() throws {
      let shapes = StatementShapes()
      var options = PostgreSQLStoreOptions()
      options.tracksHistory = true
      options.sqlLog = SQLLog { shapes.note($0.statement) }
      let bench = try ServerBench(options: options)
      let context = try bench.context(bench.store)
      let departments = try (0..<2).map { try context.insert("Department", values: ["name": .string("\($0)")]) }
      let people = try ["Ann", "Bea", "Cid"].map {
        try context.insert("Person", values: ["firstName": .string($0), "email": .string($0)])
      }
      let employee = try context.insert("Employee", values: ["salary": 7.5])
      try departments[0].setObjects([context.insert("Project"), context.insert("Project")], forKey: "projects")
      try people[0].setObjects([people[1], employee], forKey: "friends")
      try people[1].setObject(departments[0], forKey: "department")
      try context.save()
      // Two objects exchange their unique values, and an object is deleted.
      try people[0].setValue("Bea", forKey: "email")
      try people[1].setValue("Ann", forKey: "email")
      try people[0].setObjects([people[2]], forKey: "friends")
      try context.delete(departments[1])
      try context.save()
      try context.delete(departments[0])
      try context.delete(employee)
      try context.save()
      for format in [
        "age > 3", "firstName IN {'Ann', 'Bea'}", "department.name == '0'", "ANY friends.firstName == 'Ann'",
        "ALL friends.age > 1", "friends.@count > 1", "friends.@sum.age > 1", "NONE friends.department.name == 'x'",
        "SUBQUERY(friends, $f, $f.age > 1).@count > 0", "firstName LIKE[cd] 'a*'", "age + 1 > 2",
      ] {
        var request = FetchRequest("Person")
        request.predicate = try Predicate(format: format)
        request.sortDescriptors = [SortDescriptor("department.name"), SortDescriptor("firstName", ascending: false)]
        _ = try context.fetch(request)
        _ = try context.count(request)
      }
      let history = try #require(try bench.store.history())
      _ = try history.transactions(.all, includingChanges: true, limit: 0)
      try shapes.check()
      #expect(shapes.all.count > 60)
      // Correlated subqueries come from quantifiers only.
      let correlated = shapes.all.filter(StatementShapes.hasCorrelatedSubquery)
      #expect(
        correlated.allSatisfy { $0.contains("EXISTS (SELECT 1") || $0.contains("COUNT(*)") || $0.contains("SUM(") })
    }
  }
#endif
