/// Guesses the separator of a csv file from its first lines.
///
/// The guess is used where neither the user nor a line `sep=;` names the separator. `ImportInput`
/// warns if the file comes out as a single column that contains a candidate.
struct SeparatorGuess {
  /// In order of preference.
  static let candidates = [",", ";", "\t", "|"].flatMap { Array($0.utf8) }
  /// The most records to look at.
  private static let greatestCount = 20

  /// The beginning of the file, as far as it is in the window.
  private let text: UnsafeBufferPointer<UInt8>
  /// Whether the text is complete, so that its last line is whole.
  private let isWhole: Bool

  /// A guess from the beginning of a file.
  init(_ text: UnsafeBufferPointer<UInt8>, isWhole: Bool) { (self.text, self.isWhole) = (text, isWhole) }

  /// The candidate that occurs equally often in all lines. If several candidates or none do, the most frequent in the
  /// first line. A comma takes precedence.
  var separator: UInt8 {
    let found = Self.candidates.map { (separator: $0, counts: counts($0)) }.filter { $0.counts.first ?? 0 > 0 }
    let regular = found.filter { one in one.counts.allSatisfy { $0 == one.counts[0] } }
    let best = regular.isEmpty ? found : regular
    if let comma = best.first, comma.separator == Self.candidates[0] { return comma.separator }
    return best.max { $0.counts[0] < $1.counts[0] }?.separator ?? Self.candidates[0]
  }

  /// The number of occurrences in each of the first records, outside of quotes.
  private func counts(_ separator: UInt8) -> [Int] {
    var result: [Int] = []
    var (count, isQuoted, isAtStart, isEmpty) = (0, false, true, true)
    for letter in text {
      if isQuoted {
        if letter == UInt8(ascii: "\"") { isQuoted = false }
        continue
      }
      if letter == 10 || letter == 13 {
        if !isEmpty { result.append(count) }
        if result.count == Self.greatestCount { return result }
        (count, isAtStart, isEmpty) = (0, true, true)
        continue
      }
      // A doubled quote closes and reopens.
      isQuoted = letter == UInt8(ascii: "\"") && (isAtStart || !isEmpty)
      if letter == separator { count += 1 }
      (isAtStart, isEmpty) = (letter == separator, false)
    }
    if isWhole || result.isEmpty, !isEmpty { result.append(count) }
    return result
  }
}

extension InputBytes {
  /// Reads until there is a whole line, or the end.
  func fillLine() throws {
    while !UnsafeBufferPointer(start: base + start, count: count).contains(10), try more() {}
  }

  /// The first line, including its end.
  var firstLine: UnsafeBufferPointer<UInt8> {
    let all = UnsafeBufferPointer(start: base + start, count: count)
    return UnsafeBufferPointer(
      rebasing: all.prefix { $0 != 10 }.count < count ? all[...(all.firstIndex(of: 10) ?? 0)] : all[...])
  }
}
