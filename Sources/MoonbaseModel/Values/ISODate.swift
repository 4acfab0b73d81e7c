package import MoonbasePlatform

/// Dates as ISO 8601 text: printed in UTC with milliseconds, parsed in the usual forms.
///
/// Written by hand, because formatters take microseconds and imports parse millions of dates.
package enum ISODate {
  /// The text of a date, `2001-01-01T00:00:00.000Z`.
  package static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSince1970
    guard hasText(seconds) else { return seconds.description }
    return String(unsafeUninitializedCapacity: greatestLength) { write(seconds, to: $0) }
  }

  /// The text with the decimal places that the date needs: three, six or nine.
  ///
  /// Parsing the result gives the same date, to the last bit or to a nanosecond.
  package static func exactText(_ date: Date) -> String {
    let (plain, seconds) = (text(date), date.timeIntervalSinceReferenceDate)
    let whole = seconds.rounded(.down)
    guard hasText(seconds) else { return plain }
    func number(_ power: Double) -> Double { ((seconds - whole) * power).rounded() }
    func isEnough(_ power: Double) -> Bool { abs(number(power) / power - (seconds - whole)) <= seconds.ulp }
    guard !isEnough(1e3) else { return plain }
    let power = isEnough(1e6) ? 1e6 : 1e9
    // The leading 1 keeps the zeros of the number; `min` prevents rounding up to the next second.
    let digits = String(Int64(min(number(power), power - 1) + power)).dropFirst()
    return text(Date(timeIntervalSinceReferenceDate: whole)).dropLast("000Z".count) + digits + "Z"
  }

  /// The most bytes that `write` writes.
  package static let greatestLength = 32

  /// Writes the text of a date given in seconds since 1970, which must satisfy `hasText`. Returns the number of bytes.
  package static func write(_ seconds: Double, to bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let (days, rest) = floorDivide(Int64((seconds * 1000).rounded()), by: 86_400_000)
    let (year, month, day) = civil(days: days)
    var writer = Writer(bytes: bytes)
    if year < 0 || year > 9999 { writer.put(year < 0 ? "-" : "+") }
    writer.put(abs(year), width: year > 9999 ? 6 : 4)
    writer.put("-", month)
    writer.put("-", day)
    writer.put("T", rest / 3_600_000)
    writer.put(":", rest / 60_000 % 60)
    writer.put(":", rest / 1000 % 60)
    writer.put(".", rest % 1000, width: 3)
    writer.put("Z")
    return writer.count
  }

  /// Writes the parts of a text into a buffer of sufficient size.
  private struct Writer {
    /// The buffer.
    let bytes: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes written.
    var count = 0

    /// Writes a sign.
    mutating func put(_ sign: Unicode.Scalar) {
      bytes[count] = UInt8(ascii: sign)
      count += 1
    }

    /// Writes a sign and a number.
    mutating func put(_ sign: Unicode.Scalar, _ number: Int64, width: Int = 2) {
      put(sign)
      put(number, width: width)
    }

    /// Writes a number with at least `width` digits.
    mutating func put(_ number: Int64, width: Int) {
      var (length, power) = (1, Int64(10))
      while length < width || number >= power { (length, power) = (length + 1, power * 10) }
      var rest = number
      for place in (count..<(count + length)).reversed() {
        bytes[place] = 0x30 + UInt8(rest % 10)
        rest /= 10
      }
      count += length
    }
  }

  /// Whether a date, in seconds since 1970 or 2001, has a text: it is finite and within three million years.
  package static func hasText(_ seconds: Double) -> Bool { abs(seconds) < 1e14 }

  /// Parses forms such as `2001-01-01`, `2001-01-01T12:30` and `2001-01-01 12:30:15.250+02:00`. Without a zone the time
  /// is UTC.
  ///
  /// Returns nil for other forms and for days that do not exist, such as `2001-02-29`.
  package static func parse(_ text: String) -> Date? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let year = reader.year(), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), (1...12).contains(month), day >= 1, day <= length(of: month, in: year)
    else { return nil }
    var seconds = Double(days(year, month: month, day: day)) * 86_400
    if !reader.isAtEnd {
      guard reader.skip("T") || reader.skip("t") || reader.skip(" "), let time = reader.time() else { return nil }
      seconds += time
    }
    return reader.isAtEnd ? Date(timeIntervalSince1970: seconds) : nil
  }

  // MARK: The calendar

  /// The quotient rounded down, with a remainder that is not negative.
  private static func floorDivide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let rest = ((number % divisor) + divisor) % divisor
    return ((number - rest) / divisor, rest)
  }

  /// Whether a year of the Gregorian calendar has 366 days.
  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// The number of days of a month.
  private static func length(of month: Int64, in year: Int64) -> Int64 {
    month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days since 1970-01-01 in the proleptic Gregorian calendar. Years begin in March here, so that leap days come last.
  private static func days(_ year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(shifted, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The year, month and day of a number of days since 1970-01-01.
  private static func civil(days: Int64) -> (Int64, Int64, Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// Reads the parts of a text, from left to right.
  private struct Reader {
    /// The text as UTF-8.
    let bytes: [UInt8]
    /// The position of the next byte.
    var index = 0

    /// Whether all bytes were read.
    var isAtEnd: Bool { index == bytes.count }

    /// Skips a character if it is next. Returns whether it was.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    /// The next digit; nil for another byte.
    private var digit: Int64? {
      guard index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 else { return nil }
      return Int64(bytes[index] - 0x30)
    }

    /// Reads a number of exactly `width` digits.
    mutating func number(_ width: Int) -> Int64? {
      var result: Int64 = 0
      for _ in 0..<width {
        guard let digit else { return nil }
        result = result * 10 + digit
        index += 1
      }
      return result
    }

    /// Four digits, or a sign and four to seven.
    mutating func year() -> Int64? {
      let isNegative = skip("-")
      let isSigned = isNegative || skip("+")
      guard var result = number(4) else { return nil }
      var more = 0
      while isSigned, more < 3, let digit {
        result = result * 10 + digit
        index += 1
        more += 1
      }
      return isNegative ? -result : result
    }

    /// The seconds of a time of day, converted to UTC.
    mutating func time() -> Double? {
      guard let hour = number(2), hour <= 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
      var seconds = Double(hour * 3600 + minute * 60)
      if skip(":") {
        guard let second = number(2), second <= 60 else { return nil }
        seconds += Double(second) + fraction()
      }
      guard hour < 24 || seconds == 86_400 else { return nil }
      return zone().map { seconds - $0 }
    }

    /// Reads a fraction of a second, with a point or a comma; 0 without one.
    private mutating func fraction() -> Double {
      guard skip(".") || skip(",") else { return 0 }
      var value = 0.0
      var scale = 1.0
      while let digit {
        if scale < 1e15 {
          value = value * 10 + Double(digit)
          scale *= 10
        }
        index += 1
      }
      return value / scale
    }

    /// Reads the offset from UTC in seconds; 0 at the end of the text. Returns nil for another
    /// text.
    private mutating func zone() -> Double? {
      if isAtEnd || skip("Z") || skip("z") { return 0 }
      let isNegative = skip("-")
      guard isNegative || skip("+"), let hours = number(2) else { return nil }
      _ = skip(":")
      let minutes = isAtEnd ? 0 : number(2)
      guard let minutes, hours < 24, minutes < 60 else { return nil }
      return Double(hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
    }
  }
}
