import MoonbaseModel
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

private func key(_ path: String) -> KeyExpression { Expression.key(path) }

@Suite struct BuildingTests {
  private static let built: [(Predicate, String)] = [
    (key("age") >= 18 && key("age") < 65 && key("name") == "Ada", #"age >= 18 AND age < 65 AND name == "Ada""#),
    (key("a") == 1 || key("b") != 2 || !(key("c") <= 3), "a == 1 OR b != 2 OR NOT c <= 3"),
    ((key("a") == 1 || key("b") == 2) && key("c") > 3.5, "(a == 1 OR b == 2) AND c > 3.5"),
    (key("a") == nil, "a == NULL"), (key("a").isNull, "a == NULL"), (key("a.b").isNotNull, "a.b != NULL"),
    (key("a") == key("b"), "a == b"), (key("a") + 1 > key("b") * key("c"), "a + 1 > b * c"),
    ((key("a") - 1) / 2 <= 3, "(a - 1) / 2 <= 3"), (key("a") < key("b"), "a < b"), (key("a") >= key("b"), "a >= b"),
    (key("children.age").any > 5, "ANY children.age > 5"), (key("children.age").all > 5, "ALL children.age > 5"),
    (key("children.age").none > 5, "NONE children.age > 5"), (key("children").count == 0, "children.@count == 0"),
    (key("children").sum("age") > 5, "children.@sum.age > 5"), (key("c").maximum("a") > 5, "c.@max.a > 5"),
    (key("c").minimum("a") > 5, "c.@min.a > 5"), (key("c").average("a") > 5, "c.@avg.a > 5"),
    (key("a").isIn([1, "x"]), #"a IN {1, "x"}"#), (key("a").isIn(key("b")), "a IN b"),
    (key("a").isBetween(1, 5), "a BETWEEN {1, 5}"),
    (key("a").contains("é", options: [.caseInsensitive, .diacriticInsensitive]), #"a CONTAINS[cd] "é""#),
    (key("a").beginsWith("x"), #"a BEGINSWITH "x""#),
    (key("a").endsWith("x", options: [.caseInsensitive]), #"a ENDSWITH[c] "x""#),
    (key("a").like("x*"), #"a LIKE "x*""#), (key("a").matches("x.*"), #"a MATCHES "x.*""#),
    (key("a").equals("x", options: [.caseInsensitive]), #"a ==[c] "x""#), (Expression.subject == 5, "SELF == 5"),
  ]

  @Test func operatorsMakeTheSameTreesAsText() throws {
    for (predicate, text) in Self.built {
      #expect(predicate.description == text)
      #expect(try Predicate(format: text) == predicate)
    }
  }

  @Test func fetchRequestsAreChecked() throws {
    let model = World.shared.model
    var request = try FetchRequest("Person", where: "born > %@ AND department.name = 'x'", "2001-01-01")
    request.sortDescriptors = [SortDescriptor(text: "-age")]
    request.relationshipKeyPathsForPrefetching = ["department.staff"]
    request.propertiesToFetch = [
      FetchColumn("name"), FetchColumn("total", expression: try Expression(format: "@sum.age")),
      FetchColumn("children.@count"),
      FetchColumn("oldest", expression: try Expression(format: "max:(age)"), resultType: .integer16),
    ]
    request.propertiesToGroupBy = ["name", "children.@count"]
    #expect(try request.checked(in: model).predicate?.description.contains("CAST(0.0") == true)
    func message(_ change: (inout FetchRequest) -> Void) -> String {
      var changed = request
      change(&changed)
      return #expect(throws: ModelError.self) { try changed.checked(in: model) }?.message ?? ""
    }
    #expect(message { $0.entityName = "Persn" }.contains("did you mean Person?"))
    #expect(message { $0.predicate = .comparison(.init(.keyPath("nme"), .equal, .constant(1))) }.contains("mean name?"))
    #expect(message { $0.sortDescriptors = [SortDescriptor("children")] }.contains("several objects"))
    #expect(message { $0.relationshipKeyPathsForPrefetching = ["name"] }.contains("cannot be prefetched"))
    #expect(message { $0.propertiesToFetch = [FetchColumn("children.age")] }.contains("several values"))
    #expect(message { $0.propertiesToGroupBy = ["nme"] }.contains("did you mean name?"))
    #expect(
      message { $0.propertiesToGroupBy = ["name"] }
        == "the column children.@count has many values in a group, and no one of them is the group's: add children.@count to "
        + "group_by")
    #expect(
      message { $0.propertiesToGroupBy = ["children.@count"] }.hasSuffix(
        ": add name to group_by, or take all of them together, as @min.name and @count.name do"))
    #expect(message { $0.relationshipKeyPathsForPrefetching = ["department..staff"] }.contains("no property"))
  }

  @Test func requestsPrintReadably() throws {
    var request = try FetchRequest("Person", where: "age > 30")
    #expect("\(request)" == "Person where age > 30")
    request.sortDescriptors = [SortDescriptor(text: "name"), SortDescriptor("age", ascending: false)]
    request.fetchLimit = 10
    #expect("\(request)" == #"Person where age > 30, sort = { "name", "-age" }, limit = 10"#)
    #expect(
      "\(SortDescriptor("age", ascending: false, comparator: .localizedStandardCompare))"
        == "-age by localizedStandardCompare")
    #expect("\(FetchColumn("total", expression: try Expression(format: "@sum.age")))" == "total = SELF.@sum.age")
  }

  @Test(arguments: [
    ("agee", "did you mean age?"), ("max:(agee)", "did you mean age?"), ("@sum.agee", "did you mean age?"),
    ("uppercase:(nam)", "did you mean name?"), ("TERNARY(nam = 'a', 1, 2)", "did you mean name?"),
    ("SUBQUERY(children, $x, $x.nam = 'a').@count", "did you mean name?"), ("{name, nik}", "did you mean nick?"),
    ("@sum", "needs an attribute behind it"), ("@sum.name", "needs numbers"), ("average:(born)", "needs numbers"),
    ("children", "leads to several values"), ("@distinctUnionOfObjects.age", "leads to several values"),
    ("max:(age) - min:(agee)", "did you mean age?"), ("$v := agee", "did you mean age?"), ("sqrt(name)", "no meaning"),
  ])
  func columnsAreChecked(_ text: String, _ message: String) throws {
    var request = FetchRequest("Person")
    request.propertiesToFetch = [FetchColumn("x", expression: try Expression(format: text))]
    let error = #expect(throws: ModelError.self) { try request.checked(in: World.shared.model) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func emptyKeysAreRefused() {
    for expression in [
      Expression.keyPath(.evaluatedObject, []), .keyPath(""), .keyPath(.evaluatedObject, ["", "name"]),
    ] {
      var request = FetchRequest("Person", where: .comparison(.init(expression, .equal, .constant(1))))
      #expect(throws: ModelError.self) { try request.checked(in: World.shared.model) }
      request.predicate = nil
      request.propertiesToFetch = [FetchColumn("x", expression: expression)]
      #expect(throws: ModelError.self) { try request.checked(in: World.shared.model) }
    }
  }

  @Test(arguments: [
    ("castObject:toType:", [Expression.keyPath("age"), .constant("NSDat")], "did you mean NSDate?"),
    ("castObject:toType:", [.keyPath("age"), .constant(5)], "CAST has no type 5"),
    ("uppercas:", [], "mean uppercase:?"),
    ("add:to:", [.keyPath("age")], "takes 2 arguments, not 1"), ("now", [.keyPath("age")], "takes no arguments"),
  ])
  func callsThatNoTextCanMakeAreChecked(_ name: String, _ arguments: [Expression], _ message: String) {
    let predicate = Predicate.comparison(.init(.function(name, arguments), .equal, .constant(1)))
    let error = #expect(throws: ModelError.self) {
      try predicate.checked(against: World.shared.person, in: World.shared.model)
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  private func grouped(having text: String) throws -> FetchRequest {
    var request = FetchRequest("Person")
    request.propertiesToFetch = [
      FetchColumn("name"), FetchColumn("total", expression: try Expression(format: "@sum.age")),
      FetchColumn("department.name"),
      FetchColumn("born"),
      FetchColumn("whole", expression: try Expression(format: "average:(age)"), resultType: .integer64),
    ]
    request.propertiesToGroupBy = ["name", "boss.name", "department.name", "born"]
    request.havingPredicate = try Predicate(format: text)
    return request
  }

  @Test(arguments: [
    "total > 5", "name BEGINSWITH 'A' AND max:(age) < 60", "@count > 1", "boss.name = NULL", "department.name != 'x'",
    "@max.age - @min.age > total / 2", "count:(children.age) > whole", "born > '2001-01-01'", "NOT (total = $x)",
  ])
  func conditionsOnGroupsNameColumnsKeysAndFunctions(_ text: String) throws {
    let request = try grouped(having: text)
    let checked = try #require(try request.checked(in: World.shared.model).havingPredicate)
    let expected = request.havingPredicate?.description.replacing(#""2001-01-01""#, with: #"CAST(0.0, "NSDate")"#)
    #expect(checked.description == expected)
  }

  @Test(arguments: [
    ("totl > 5", "did you mean total?"), ("age > 5", "neither a column nor a key of the groups"),
    ("sum:(agee) > 5", "did you mean age?"), ("@sum.agee > 5", "did you mean age?"), ("total = 'x'", "impossible"),
    ("name = 5", "impossible"), ("max:(age) = 'x' AND totl = 1", "did you mean total?"),
    ("@sum.name > 1", "needs numbers"),
    ("whole LIKE 'x'", "compares strings"), ("children.@count > 1", "neither a column"), ("born = 'x'", "impossible"),
  ])
  func conditionsOnGroupsAreChecked(_ text: String, _ message: String) throws {
    let request = try grouped(having: text)
    let error = #expect(throws: ModelError.self) { try request.checked(in: World.shared.model) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }
}

/// The example of docs/predicates.md.
private struct Book: KeyPathAnswering {
  var title: String
  var predicateValue: Value { .string(title) }
  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Book> {
    .value(key == "title" ? .string(title) : .null)
  }
}

@Suite struct OwnTypeTests {
  @Test func predicatesOnOwnTypesAskForKeys() throws {
    let books = [Book(title: "Emma"), Book(title: "Middlemarch")]
    let short = try CompiledPredicate(Predicate(format: "title.length < 5 AND title != NULL AND author == NULL"))
    #expect(try books.filter { try short.evaluate(with: $0) }.map(\.title) == ["Emma"])
    #expect(try Predicate(format: "title ==[c] 'EMMA'").evaluate(with: books[0]))
  }
}
