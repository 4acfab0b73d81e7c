import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Predicate

@Suite struct DecimalProductTests {
  private static func decimal(_ text: String) throws -> Decimal { try #require(Decimal(literal: text)) }

  /// Foundation's operator traps for all of these.
  @Test(arguments: [
    ("1e-100", "1e-100", "0"), ("1e-64", "-1e-100", "0"), ("3.25", "1e-128", "3e-128"),
    ("-12345e-100", "5e-30", "-6.17e-126"),
    ("1.5e-127", "2", "3e-127"),
    ("3.40282366920938463463374607431768211455", "1e-100", "3.4028236692093846346337460743e-100"),
  ])
  func productsOfTinyFactorsAreRoundedAndDoNotTrap(_ left: String, _ right: String, _ product: String) throws {
    let expected = try Self.decimal(product)
    #expect(try Self.decimal(left).product(Self.decimal(right)) == expected)
    #expect(try Self.decimal(right).product(Self.decimal(left)) == expected)
  }

  @Test func productsKeepTheirPrecisionNearTheLeastExponent() throws {
    let left = try Self.decimal("3.40282366920938463463374607431768211455")
    let right = try Self.decimal("1.40282366920938463463374607431768211455e-90")
    let product = left.product(right)
    #expect(abs(NSDecimalNumber(decimal: product).doubleValue / 4.77356159e-90 - 1) < 1e-8)
  }

  @Test func productsOfPlainFactorsAreThoseOfFoundation() throws {
    #expect(try Self.decimal("1.10").product(3) == Self.decimal("3.30"))
    #expect(Decimal.nan.product(1).isNaN && Decimal(1).product(.nan).isNaN)
  }

  /// Foundation's operator has no result for the first seven.
  @Test(arguments: [
    ("1e-100", "2", "5e-101"), ("1e-95", "3", "\(String(repeating: "3", count: 33))e-128"),
    ("-7e-100", "2", "-3.5e-100"),
    ("1e-128", "2", "1e-128"), ("1e-128", "-3", "0"), ("1e-60", "1e100", "0"),
    ("3.40282366920938463463374607431768211455e-90", "1e20", "3.402823669209384635e-110"),
    ("10", "4", "2.5"), ("1e-60", "-1e-100", "-1e40"),
  ])
  func quotientsOfTinyNumbersAreRoundedAndNotLost(_ left: String, _ right: String, _ quotient: String) throws {
    #expect(try Self.decimal(left).quotient(Self.decimal(right)) == Self.decimal(quotient))
  }

  @Test func aQuotientThatIsTooLargeIsNone() throws {
    #expect(try Self.decimal("1e100").quotient(Self.decimal("1e-100")).isNaN)
    #expect(Decimal.nan.quotient(1).isNaN && Decimal(1).quotient(.nan).isNaN)
  }

  @Test func predicatesWithTinyDecimalsAreAnswered() throws {
    let tiny = Value.decimal(try Self.decimal("1e-100"))
    #expect(try Predicate(format: "a * a == 0 AND a * 2 > a AND a / 3 > 0 AND a / 2 < a").evaluate(with: ["a": tiny]))
  }
}
