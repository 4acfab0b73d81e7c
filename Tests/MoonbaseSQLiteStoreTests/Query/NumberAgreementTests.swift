import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Numbers compare the same in SQL, in memory and unsaved.
@Suite struct NumberAgreementTests {
  private static let operators = ["==", "!=", "<", "<=", ">", ">="]

  // MARK: Decimals

  /// Decimals that differ in each digit from the first to the 38th, of each sign, large and small.
  private static let decimals: [String] = [
    "0", "0.1", "-0.1", "0.3", "1", "-1", "12345678901234567", "12345678901234568", "1234567890123456.7",
    "1234567890123456.8", "0.1234567890123456", "0.12345678901234567", "0.12345678901234568", "-0.12345678901234567",
    "0.1234567890123456789012345678901234567", "0.1234567890123456789012345678901234568", "9223372036854775807",
    "9223372036854775808", "12345678901234567890", "12345678901234567891", "-12345678901234567890",
    "12345678901234567890123456789012345678", "12345678901234567890123456789012345677", "1000000000000000000000000",
    "0.00000000000000000000000000000000000001", "100", "99.99", "99.999999999999999999",
  ]

  private static var prices: [Value] { [.null] + decimals.map { .decimal(Decimal(string: $0)!) } }

  @Test func aDecimalComesBackFromTheFileWithEveryDigit() throws {
    let worlds = try Worlds("price", Self.prices)
    let things = try worlds.file.fetch(FetchRequest("Thing"))
    #expect(things.count == Self.prices.count)
    for thing in things {
      let index = Int(try thing.value(forKey: "name").text ?? "")!
      #expect(try thing.value(forKey: "price") == Self.prices[index])
    }
    let raw = try RawDatabase(worlds.folder.file("saved.sqlite"))
    let kinds = try raw.rows("SELECT DISTINCT typeof(ZPRICE) FROM ZTHING ORDER BY 1")
    #expect(kinds == ["blob", "integer", "null", "real"])
    #expect(try raw.value("SELECT CAST(ZPRICE AS TEXT) FROM ZTHING WHERE ZNAME = '12'") == "0.12345678901234567")
  }

  @Test func theLeastAndTheGreatestDecimalsComeBackFromTheFile() throws {
    let far: [Value] = ["1e-128", "-1e-128", "3e-128", "1e127", "-9e127"].map { .decimal(Decimal(string: $0)!) }
    let worlds = try Worlds("price", far)
    for context in [worlds.memory, worlds.file, worlds.unsaved] {
      let things = try context.fetch(FetchRequest("Thing", where: Predicate(format: "price != NULL")))
      #expect(try Set(things.map { try $0.value(forKey: "price") }) == Set(far))
    }
    for value in far { #expect(try worlds.agree("price == %@", value).count == 1) }
    try worlds.agree(.constant(true), [SortDescriptor("price")])
  }

  @Test func decimalsCompareAndSortByAllOfTheirDigits() throws {
    let worlds = try Worlds("price", Self.prices)
    for value in Self.prices {
      for comparator in Self.operators {
        let predicate = try Predicate(format: "price \(comparator) %@", value)
        if value != .null || comparator == "==" || comparator == "!=" { try worlds.agree(predicate) }
        if value != .null { #expect(try worlds.isInSQL(predicate)) }
      }
      guard case .decimal(let number) = value else { continue }
      #expect(try worlds.agree("price == %@", value).count == 1, "\(number)")
      try worlds.agree("NOT price IN %@", .list([value, .null]))
      try worlds.agree("price IN %@", .list([value, 1, 0.3]))
      try worlds.agree("NOT price BETWEEN %@", .list([value, .decimal(100)]))
      try worlds.agree("score > %@ OR whole <= %@ OR price + 1 > %@", value, value, value)
    }
    for sort in ["price", "-price"] {
      try worlds.agree(.constant(true), [SortDescriptor(text: sort), SortDescriptor("name")])
    }
  }

  @Test func aDecimalOfFewDigitsIsFoundByTheIndexOfItsColumn() throws {
    let worlds = try Worlds("price", Self.prices)
    let statements = try worlds.statements {
      _ = try worlds.names(worlds.file, Predicate(format: "price == %@", .decimal(1)))
    }
    let sql = try #require(statements.first)
    let raw = try RawDatabase(worlds.folder.file("saved.sqlite"))
    try raw.connection.register(function: "moonbase_decimal", arguments: 1, traits: .deterministic) { $0.setNull() }
    let plan = try raw.rows("EXPLAIN QUERY PLAN \(sql)").joined(separator: "\n")
    #expect(plan.contains("SEARCH t0 USING INDEX") && !plan.contains("SCAN t0"), "\(plan)")
  }

  @Test func aLiteralBesideADecimalKeepsItsDigits() throws {
    let digits = ["0.1", "0.1000000000000000055", "12345678901234567890.5", "12345678901234567891.5"]
    let worlds = try Worlds("price", digits.map { .decimal(Decimal(string: $0)!) })
    for (index, text) in digits.enumerated() {
      for condition in [
        "price == \(text)", "price IN {\(text), 7}", "price BETWEEN {\(text), \(text)}", "\(text) = price",
      ] {
        #expect(try worlds.agree(condition) == ["\(index)"], "\(condition)")
        #expect(try worlds.isInSQL(Predicate(format: condition)))
        // The printed predicate gives the same result.
        #expect(try worlds.agree(Predicate(format: condition).description) == ["\(index)"])
      }
    }
    #expect(try worlds.agree("price > 0.1 AND price < 0.1000000000000000056") == ["1"])
    #expect(try worlds.agree("price + 0 == 0.1000000000000000055") == ["1"])
    // No decimal has more than 38 digits.
    #expect(try worlds.agree("price == 0.1000000000000000055000000000000000000001") == ["1"])
  }

  @Test func aLiteralOfManyDigitsBesideADoubleOrADateIsTheDoubleNextToIt() throws {
    let worlds = try Worlds { context in
      let thing = try context.insert("Thing")
      try thing.setValue("0", forKey: "name")
      try thing.setValue(0.1, forKey: "score")
      try thing.setValue(0.1, forKey: "ratio")
      try thing.setValue(.date(Date(timeIntervalSinceReferenceDate: 0.1)), forKey: "born")
    }
    for key in ["score", "ratio", "born"] {
      for condition in [
        "\(key) == 0.1000000000000000055", "\(key) IN {0.1000000000000000055, 2}", "0.1000000000000000055 <= \(key)",
      ] {
        #expect(try worlds.agree(condition) == ["0"], "\(condition)")
        #expect(try worlds.isInSQL(Predicate(format: condition)))
      }
    }
    #expect(try worlds.agree("score == %@", .decimal(Decimal(string: "0.1000000000000000055")!)) == ["0"])
  }

  // MARK: Sums

  private func bosses(of wholes: [[Int64]]) throws -> Worlds {
    try Worlds { context in
      for (index, members) in wholes.enumerated() {
        let boss = try context.insert("Thing")
        try boss.setValue(.string("\(index)"), forKey: "name")
        for whole in members {
          let thing = try context.insert("Thing")
          try thing.setValue(.int(whole), forKey: "whole")
          try thing.setObject(boss, forKey: "boss")
        }
      }
    }
  }

  @Test func sumsOfIntegersAreExactWhile64BitsHoldThem() throws {
    let worlds = try bosses(of: [
      [.max, 1, -1], [1, -1, .max], [.min, .max, -1], [], [1, 2], [9_007_199_254_740_993, 2], [.min, .max, .min, .max],
    ])
    let named = "name != NULL AND "
    #expect(try worlds.agree("\(named)staff.@sum.whole == %@", .int(.max)) == ["0", "1"])
    #expect(try worlds.agree("\(named)staff.@sum.whole == 0") == ["3"])
    #expect(try worlds.agree("\(named)staff.@sum.whole == 9007199254740995") == ["5"])
    for probe in [Value.double(0x1p63), .double(-0x1p63), .int(.min), .int(3), .double(1.5), .double(0x1p62)] {
      for comparator in Self.operators {
        try worlds.agree("\(named)staff.@sum.whole \(comparator) %@", probe)
        try worlds.agree("\(named)staff.@avg.whole \(comparator) %@", probe)
        try worlds.agree("\(named)NOT staff.@sum.whole - 1 \(comparator) %@", probe)
      }
    }
    try worlds.agree(.constant(true), [SortDescriptor("staff.@sum.whole"), SortDescriptor("name")])
  }

  /// A double in place of the sum would silently lose digits. An average is a double anyway.
  @Test func aSumOfIntegersThat64BitsDoNotHoldIsAnErrorInEveryWorld() throws {
    for wholes: [Int64] in [[.max, 1], [.min, -1], [.min, .min, .max], [.max, .max, .max]] {
      let worlds = try bosses(of: [wholes])
      for context in [worlds.memory, worlds.file, worlds.unsaved] {
        var request = FetchRequest("Thing")
        request.predicate = try Predicate(format: "staff.@sum.whole > 0")
        var columns = FetchRequest("Thing")
        columns.propertiesToFetch = [FetchColumn("sum", expression: try Expression(format: "@sum.whole"))]
        // Columns are read from the store.
        for request in context === worlds.unsaved ? [request] : [request, columns] {
          let error = #expect(throws: (any Error).self) {
            if request.propertiesToFetch.isEmpty {
              _ = try context.fetch(request)
            } else {
              _ = try context.fetchDictionaries(request)
            }
          }
          #expect("\(try #require(error))".contains("is more than 64 bits hold: add up decimals or doubles"))
        }
      }
      #expect(try worlds.agree("name != NULL AND staff.@avg.whole < 9.3e18") == ["0"])
    }
  }

  @Test func arithmeticPast64BitsBecomesADouble() throws {
    let worlds = try Worlds("whole", [.int(.max), .int(.min), 0, 1, -1, .null, .int(.max / 2 + 1)])
    for term in [
      "whole + 1 > 9e18", "whole - 1 < -9e18", "whole * 2 == 9223372036854775808.0", "whole * whole > 8e37",
      "whole / -1 > 9e18", "whole / 0 == NULL", "modulus:by:(whole, 0) == NULL", "modulus:by:(whole, -1) == 0",
      "whole * 3 > whole", "abs:(whole) > 5", "-whole < 0", "whole ** 2 > 1e30",
    ] {
      try worlds.agree(term)
      try worlds.agree("NOT (\(term))")
    }
  }

  // MARK: Not a number

  @Test func notANumberIsNoValueAndInfinityIsOne() throws {
    let scores: [Value] = [.null, 0, -1, 1.5, .double(.infinity), .double(-.infinity), .double(-0.0), 1e308]
    let worlds = try Worlds("score", scores)
    for comparator in Self.operators {
      for value in [Value.double(.nan), .double(.infinity), .double(-.infinity), .double(0)] {
        try worlds.agree("score \(comparator) %@", value)
        try worlds.agree("NOT score \(comparator) %@", value)
        try worlds.agree("whole \(comparator) %@ OR price \(comparator) %@", value, value)
        try worlds.agree("sqrt:(score) \(comparator) %@", value)
        try worlds.agree("score - score \(comparator) %@", value)
      }
    }
    #expect(try worlds.agree("NOT score == %@", .double(.nan)).isEmpty)
    for text in [
      "%@ == NULL", "NULL == %@", "%@ != NULL", "NOT %@ == NULL", "abs:(%@) == NULL", "TERNARY(%@ == NULL, 1, 2) == 1",
    ] {
      _ = try worlds.agree(text, .double(.nan))
    }
    #expect(try worlds.agree("sqrt:(score) == NULL") == ["0", "2", "5"])
    for term in [
      "score - score == NULL", "score * 0 == NULL", "ln:(score) == NULL", "log:(score) < 0", "score + score > 1",
      "modulus:by:(score, 2) == NULL", "score ** 0.5 == NULL", "score IN %@", "NOT score IN %@", "score BETWEEN %@",
      "NOT score BETWEEN %@",
    ] {
      let arguments: [Value] = term.contains("%@") ? [.list([.double(.nan), 0])] : []
      try worlds.agree(Predicate(format: term, arguments: arguments))
    }
    try worlds.agree(.constant(true), [SortDescriptor("score"), SortDescriptor("name")])
  }

  // MARK: Floats

  @Test func aFloatIsFoundByTheNumberThatWasAssignedToIt() throws {
    let ratios: [Value] = [.null, 1.7, 0.1, -0.3, 16_777_217, 2, .double(.infinity), 3.4e38, 1e-45]
    let worlds = try Worlds("ratio", ratios)
    for ratio in ratios.dropFirst() {
      #expect(try worlds.agree("ratio == %@", ratio).count == 1, "\(ratio)")
      #expect(try worlds.agree("ratio IN %@", .list([ratio])).count == 1)
      #expect(try worlds.agree("%@ == ratio", ratio).count == 1)
      for comparator in Self.operators { try worlds.agree("NOT ratio \(comparator) %@", ratio) }
    }
    #expect(try worlds.agree("ratio == %@", .decimal(Decimal(string: "1.7")!)) == ["1"])
    #expect(try worlds.agree("ratio > 1.7 AND ratio < 1.8").isEmpty)
    #expect(try worlds.agree("ratio BETWEEN {1.7, 1.7}") == ["1"])
    #expect(try worlds.agree("ratio < 1e300 AND ratio > 1e38") == ["7"])
    #expect(try worlds.agree("ratio == 1e300").isEmpty)
  }

  /// Another program writes a value that single precision cannot hold.
  @Test func aNumberOfDoublePrecisionInAFloatColumnIsFoundAsWhatIsRead() throws {
    let exact: [Value] = [.null, 1.7, 0.1, -0.3, 2]
    let worlds = try Worlds("ratio", exact)
    let raw = try RawDatabase(worlds.folder.file("saved.sqlite"))
    try raw.connection.executeScript(
      "UPDATE ZTHING SET ZRATIO = CASE ZNAME WHEN '1' THEN 1.7 WHEN '2' THEN 0.1 WHEN '3' THEN -0.3 ELSE ZRATIO END")
    for thing in try worlds.file.fetch(FetchRequest("Thing")) {
      guard case .double(let ratio) = try thing.value(forKey: "ratio") else { continue }
      #expect(Double(Float(ratio)) == ratio)
      try worlds.agree("ratio == %@", .double(ratio))
    }
    for ratio in exact {
      for comparator in Self.operators where ratio != .null {
        for text in ["ratio \(comparator) %@", "%@ \(comparator) ratio", "NOT ratio \(comparator) %@"] {
          try worlds.agree(text, ratio)
        }
      }
      try worlds.agree("ratio IN %@", .list([ratio, 7]))
      try worlds.agree("ratio BETWEEN %@", .list([ratio == .null ? 1 : ratio, ratio == .null ? 2 : ratio]))
    }
    #expect(try worlds.agree("ratio == 1.7 AND ratio == ratio") == ["1"])
    #expect(try worlds.isInSQL(Predicate(format: "ratio == 1.7 AND ratio IN {1.7, 2}")))
  }

  @Test func integersThatADoubleCannotHoldAreNotRoundedToBeFound() throws {
    let worlds = try Worlds("score", [.double(9_007_199_254_740_992), 1, .null])
    for list in [[Value.int(9_007_199_254_740_993)], [.int(9_007_199_254_740_992), 2], [.int(.max)]] {
      try worlds.agree("score IN %@", .list(list))
      try worlds.agree("NOT score IN %@", .list(list))
      try worlds.agree("score == %@", list[0])
    }
    let wholes = try Worlds("whole", [.int(9_007_199_254_740_993), 1, .int(.max), .int(.min), .null])
    for list in [[Value.double(9_007_199_254_740_992)], [.double(0x1p63), 1], [1.5], [.double(-0x1p63)]] {
      try wholes.agree("whole IN %@", .list(list))
      try wholes.agree("NOT whole IN %@", .list(list))
    }
    try wholes.agree("whole IN %@", .list([.decimal(1), .decimal(Decimal(string: "9007199254740993")!)]))
    try wholes.agree("whole == %@", .decimal(Decimal(string: "9007199254740993")!))
  }

  // MARK: At random

  @Test(arguments: [1, 2, 3, 4])
  func randomComparisonsOfRandomNumbersAgree(seed: UInt64) throws {
    var random = SplitMix(seed)
    func decimal() -> Decimal {
      let digits = String(
        (0..<(1 + random.next(38))).map { _ in Character("\(random.next(10) < 7 ? 3 : random.next(10))") })
      let text = (random.next(2) == 0 ? "-" : "") + digits + "e-\(random.next(45))"
      return Decimal(string: text)!
    }
    func number() -> Value {
      switch random.next(6) {
      case 0: .decimal(decimal())
      case 1: .int(Int64(bitPattern: random.next()) >> Int64(random.next(64)))
      case 2: .double(Double(bitPattern: random.next()))
      case 3: .double(Double(random.next(1000)) / 10)
      case 4: .int(Int64(random.next(5)))
      default: .double(Double(Float(random.next(100)) / 7))
      }
    }
    func fitting(_ key: String) -> Value {
      switch key {
      case "price": return .decimal(decimal())
      case "whole": return .int(Int64(bitPattern: random.next()) >> Int64(random.next(64)))
      case "ratio": return .double(Double(Float(random.next(100)) / 7))
      default:
        let number = Double(bitPattern: random.next())
        return .double(number.isNaN ? 0 : number)
      }
    }
    let keys = ["price", "whole", "ratio", "score"]
    var rows: [[Value]] = []
    for _ in 0..<24 { rows.append(keys.map { random.next(6) == 0 ? .null : fitting($0) }) }
    let worlds = try Worlds { context in
      for (index, row) in rows.enumerated() {
        let thing = try context.insert("Thing")
        try thing.setValue(.string("\(index)"), forKey: "name")
        for (key, value) in zip(keys, row) { try thing.setValue(value, forKey: key) }
      }
    }
    let known = rows.flatMap(\.self).filter { $0 != .null }
    for _ in 0..<120 {
      let key = keys[random.next(4)]
      let value = random.next(2) == 0 ? number() : known[random.next(known.count)]
      let comparator = Self.operators[random.next(6)]
      let other = keys[random.next(4)]
      let list = Value.list(
        (0..<random.next(6)).map { _ in random.next(2) == 0 ? number() : known[random.next(known.count)] })
      try worlds.agree("\(key) \(comparator) %@", value)
      try worlds.agree("NOT \(key) \(comparator) %@", value)
      try worlds.agree("\(key) \(comparator) \(other)")
      try worlds.agree("NOT \(key) IN %@", list)
      try worlds.agree("\(key) BETWEEN %@", .list([value, number()]))
    }
    for key in keys { try worlds.agree(.constant(true), [SortDescriptor(text: "-" + key), SortDescriptor("name")]) }
  }
}
