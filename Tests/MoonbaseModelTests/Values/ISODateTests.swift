import MoonbaseModel
import MoonbasePlatform
import Testing

@Suite struct ISODateTests {
  @Test(arguments: [
    ("2001-01-01", 0), ("2001-01-01T00:00:01Z", 1), ("2001-01-01 00:00", 0), ("2001-01-01T01:00:00+01:00", 0),
    ("2000-12-31T23:30:00-0030", 0), ("2001-01-01T00:00:00.250Z", 0.25), ("1970-01-01T00:00:00Z", -978_307_200),
    ("2000-02-29", -26_524_800), ("2001-01-01T24:00:00Z", 86_400), ("0001-01-01", -63_113_904_000),
    ("2001-01-01T00:00:00,5Z", 0.5),
  ])
  func aDateIsRead(_ text: String, _ seconds: Double) {
    #expect(ISODate.parse(text)?.timeIntervalSinceReferenceDate == seconds)
  }

  @Test(arguments: [
    "", "2001", "2001-1-1", "2001-13-01", "2001-02-29", "1900-02-29", "2001-01-01T", "2001-01-01T25:00",
    "2001-01-01T00:60",
    "2001-01-01T00:00:00X", "2001-01-01T00:00:00Z ", "01/01/2001", "2001-01-01T24:00:01", "2001-01-01T00:00+25:00",
  ])
  func aTextThatIsNoDateIsRefused(_ text: String) { #expect(ISODate.parse(text) == nil) }

  @Test(arguments: [0, 0.25, -978_307_200, 1e9 + 0.001, -63_113_904_000, 7_258_118_399.999, -26_524_800])
  func aDateIsPrintedAndReadBack(_ seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let text = ISODate.text(date)
    #expect(text.count == 24 && text.hasSuffix("Z"))
    let back = try #require(ISODate.parse(text))
    #expect(abs(back.timeIntervalSince(date)) < 0.0005)
  }

  @Test(arguments: [
    (0, "2001-01-01T00:00:00.000Z"), (0.25, "2001-01-01T00:00:00.250Z"),
    (0.123456, "2001-01-01T00:00:00.123456Z"), (0.123456789, "2001-01-01T00:00:00.123456789Z"),
    (-0.0005, "2000-12-31T23:59:59.999500Z"), (0.9999999999, "2001-01-01T00:00:00.999999999Z"),
    (800_000_000.678901, "2026-05-09T06:13:20.678901Z"), (800_000_000.1, "2026-05-09T06:13:20.100Z"),
    (1e15, "1000000978307200.0"),
  ])
  func aDateIsPrintedWithThePlacesThatItHas(_ seconds: Double, _ text: String) {
    #expect(ISODate.exactText(Date(timeIntervalSinceReferenceDate: seconds)) == text)
  }

  @Test func dayByDayAgreesWithFoundation() {
    let formatter = ISO8601DateFormatter()
    for day in stride(from: -150_000, to: 150_000, by: 37) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
      #expect(formatter.date(from: ISODate.text(date).replacing(".000", with: "")) == date)
    }
  }
}
