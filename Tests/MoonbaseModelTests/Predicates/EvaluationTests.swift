import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Predicate

@Suite struct EvaluationTests {
  @Test(arguments: fetchCases.lines)
  func aFetchFindsWhatItsPredicateSays(_ line: CaseTable.Line) throws {
    #expect(try World.shared.matches(Predicate(format: line.input)) == line.outcome)
  }

  @Test(arguments: fetchCases.lines)
  func predicatesOfFetchesPrintAndParseToThemselves(_ line: CaseTable.Line) throws {
    let predicate = try Predicate(format: line.input)
    #expect(try Predicate(format: predicate.description) == predicate)
  }

  @Test(arguments: nilCases.lines)
  func aMissingValueMeansWhatFoundationSays(_ line: CaseTable.Line) throws {
    let subject: [String: Value] = [
      "name": "Zoë", "age": 30, "score": 2.5, "gone": .null, "empty": "", "tags": ["a", "b", "c"], "scores": [1, 2, 3],
      "home": ["city": "Köln"], "rooms": [["size": 10], ["size": 20]],
      "day": .date(Date(timeIntervalSinceReferenceDate: 0)),
    ]
    let predicate = try Predicate(format: line.input)
    guard line.outcome != "ERROR" else {
      let error = #expect(throws: ModelError.self) { try predicate.evaluate(with: subject) }
      #expect(error?.code == .evaluation)
      return
    }
    #expect(try predicate.evaluate(with: subject) == (line.outcome == "true"))
  }

  @Test func keyedAndSlottedEvaluationAgreeWhereNothingIsMissing() throws {
    for line in fetchCases.lines where !line.input.contains("NULL") && !line.input.contains("\"2") {
      let predicate = try Predicate(format: line.input).checked(against: World.shared.person, in: World.shared.model)
      let row = World.shared.people[0]
      let slotted = try CompiledPredicate(predicate, entity: row.entity, in: World.shared.model).matches(row)
      let keyed = try CompiledPredicate(predicate, nulls: .fetch).matches(KeyedRow(row: row))
      if !line.input.contains("boss"), !line.input.contains("nick") { #expect(slotted == keyed, "\(line)") }
    }
  }

  /// Constant integers are looked up in a range; values of the subject are compared by the rules.
  @Test(arguments: [NullRules.fetch, .foundation])
  func constantIntegersCompareLikeValues(_ nulls: NullRules) throws {
    let limits: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 53 + 1, .max - 1, .max]
    let numbers: [Value] =
      limits.map { .int($0) } + [
        .null, .bool(true), .double(.nan), .double(0.5), .double(-0.0), .double(0x1p63), .double(-.infinity),
        .decimal(1), .decimal(Decimal(sign: .plus, exponent: -1, significand: 5)), .string("1"),
        .date(Date(timeIntervalSinceReferenceDate: 0.5)),
      ]
    for limit in limits {
      for sign in ["==", "!=", "<", "<=", ">", ">="] {
        try agree(numbers, limit, nulls, "n \(sign) \(limit)", "n \(sign) limit")
        try agree(numbers, limit, nulls, "NOT n \(sign) \(limit)", "NOT n \(sign) limit")
        try agree(numbers, limit, nulls, "ANY {n, 7} \(sign) \(limit)", "ANY {n, 7} \(sign) limit")
      }
      try agree(numbers, limit, nulls, "n BETWEEN {0, \(limit)}", "n BETWEEN {0, limit}")
      try agree(numbers, limit, nulls, "n >= \(limit) AND n < 5", "n >= limit AND n < zero + 5")
    }
  }

  private func agree(
    _ numbers: [Value], _ limit: Int64, _ nulls: NullRules, _ constant: String, _ read: String
  ) throws {
    let quick = try CompiledPredicate(Predicate(format: constant), nulls: nulls)
    let general = try CompiledPredicate(Predicate(format: read), nulls: nulls)
    for number in numbers {
      let subject: [String: Value] = ["n": number, "limit": .int(limit), "zero": 0]
      #expect(try quick.evaluate(with: subject) == general.evaluate(with: subject), "\(constant) with \(number)")
    }
  }

  @Test func variablesAreSubstituted() throws {
    let predicate = try Predicate(format: "age > $AGE AND SUBQUERY(children, $c, $c.age > $AGE).@count > $n")
    #expect(predicate.freeVariables == ["AGE", "n"])
    let complete = try predicate.substituting(["AGE": 5, "n": 0])
    #expect(complete.description == "age > 5 AND SUBQUERY(children, $c, $c.age > 5).@count > 0")
    #expect(complete.freeVariables.isEmpty)
    let error = #expect(throws: ModelError.self) { try predicate.substituting(["AGE": 5, "m": 1]) }
    #expect(error?.message == "there is no value for $n")
  }

  @Test func assignedVariablesAreNotFree() throws {
    let predicate = try Predicate(
      format: "$v > 1 AND ($v := a + $n) > 2 AND $v < $m AND SUBQUERY(c, $v, $v = 1).@count > $v")
    #expect(predicate.freeVariables == ["v", "n", "m"])
    let assigned = try Predicate(format: "($v := a + $n) > 2 AND $v < 10 AND TERNARY($v = 3, 1, 2) = 1")
    #expect(assigned.freeVariables == ["n"])
    let complete = try assigned.substituting(["n": 1, "v": 100])
    #expect(complete.description == "($v := a + 1) > 2 AND $v < 10 AND TERNARY($v == 3, 1, 2) == 1")
    #expect(try complete.evaluate(with: ["a": 2]) && !complete.evaluate(with: ["a": 3]))
  }

  @Test func aVariableThatIsAMapAnswersKeyPaths() throws {
    let predicate = try Predicate(
      format: "born > $FETCHED_PROPERTY.userInfo.since AND x = $FETCHED_PROPERTY.userInfo.none")
    let complete = try predicate.substituting(["FETCHED_PROPERTY": ["userInfo": ["since": 12]]])
    #expect(complete.description == "born > 12 AND x == NULL")
  }

  @Test func keyPathsAreListed() throws {
    let predicate = try Predicate(
      format: "a.b = 1 AND ANY c.d > a.b AND c.@sum.e > 2 AND SUBQUERY(f, $x, $x.g.h = i).@count > 0 AND SELF = $y.j")
    #expect(predicate.keyPaths.map { $0.joined(separator: ".") } == ["a.b", "c.d", "c.e", "f", "f.g.h", "i"])
  }

  @Test func expressionsHaveValues() throws {
    let subject: Value = ["a": 2, "b": [1, 2, 4]]
    #expect(try Expression(format: "a * 3 + b.@max").value(with: subject) == 10)
    #expect(try Expression(format: "{a, b[LAST], 'x'}").value(with: subject) == [2, 4, "x"])
    #expect(try Expression(format: "$v := a").value(with: subject) == 2)
  }
}

/// A row whose values are read by key.
private struct KeyedRow: SlottedSubject {
  typealias Related = KeyedRow
  let row: Row

  var predicateValue: Value { row.predicateValue }
  func predicateValue(slot: Int) -> Value { .null }
  func predicateDestination(slot: Int) -> KeyedRow? { nil }
  func predicateDestinations(slot: Int) -> [KeyedRow] { [] }

  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<KeyedRow> {
    switch try row.predicateAnswer(forKey: key) {
    case .value(let value): .value(value)
    case .object(let object): .object(object.map { KeyedRow(row: $0) })
    case .objects(let objects): .objects(objects.map { KeyedRow(row: $0) })
    }
  }
}
