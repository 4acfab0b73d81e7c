import MoonbasePlatform
import Testing

@Suite struct LiteralTests {
  @Test(arguments: [
    ("0", "0"), ("-0.0", "0"), ("1.", "1"), (".5", "0.5"), ("+5", "5"), ("-1.50", "-1.5"), ("1e5", "100000"),
    ("1E+5", "100000"),
    ("25e-1", "2.5"), ("0e99999999999999999999", "0"),
    (String(repeating: "0", count: 60) + "1", "1"), ("0.1" + String(repeating: "0", count: 60), "0.1"),
    (String(repeating: "9", count: 38), String(repeating: "9", count: 38)),
    ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
    ("0.123456789012345678901234567890123456789", "0.123456789012345678901234567890123456789"),
    ("1" + String(repeating: "0", count: 165), "1" + String(repeating: "0", count: 165)),
    ("1e165", "1" + String(repeating: "0", count: 165)), ("1.0e-128", "0." + String(repeating: "0", count: 127) + "1"),
  ])
  func aNumeralIsReadWithAllItsDigits(_ text: String, _ expected: String) throws {
    let value = try #require(Decimal(literal: text))
    #expect(value.description == expected)
    #expect(Decimal(literal: value.description) == value)
  }

  @Test(arguments: [
    String(repeating: "9", count: 39), "340282366920938463463374607431768211456",
    "123456789012345678901234567890123456789.5", "0.9999999999999999999999999999999999999999", "1e166", "1e400",
    "1e-129", "15e-129", "1e-99999999999999999999",
  ])
  func aNumeralThatWouldLoseDigitsIsRefused(_ text: String) {
    #expect(Decimal(literal: text) == nil && Decimal(literal: "-" + text) == nil)
    #expect(Decimal.misfit(text)?.contains("does not fit exactly") == true)
  }

  @Test(arguments: [
    "", ".", "-", "+.", "e5", ".e5", "1e", "1e+", "1 ", " 1", "0x10", "1_000", "nan", "inf", "1.2.3", "--1", "1\u{0}",
  ])
  func whatIsNoNumeralIsNotRead(_ text: String) {
    #expect(Decimal(literal: text) == nil && Decimal.misfit(text) == nil)
  }

  @Test func aUUIDIsReadToTheEndOfItsText() {
    let text = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
    #expect(UUID(literal: text)?.uuidString == text && UUID(literal: text.lowercased())?.uuidString == text)
    for other in [
      text + "\u{0}", text + "\u{0}garbage", text + "x", "{\(text)}", String(text.dropLast()) + "\u{0}", "",
    ] {
      #expect(UUID(literal: other) == nil)
    }
  }
}
