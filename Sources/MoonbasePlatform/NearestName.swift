/// The most likely correction of a misspelt name; nil if no name is near.
///
/// Case differences weigh little; a swapped, missing, added or wrong letter weighs one. Of equally near names the first
/// is used. In a name of one or two letters no letter may be wrong, because all short names would be near; a letter of
/// two may be missing or added. If no name is near, the only name with the same beginning is used.
package func nearestName(to name: String, among names: some Sequence<String>) -> String? {
  guard let wanted = comparableLetters(of: name), !wanted.isEmpty else { return nil }
  let limit = wanted.count < 2 ? 0 : max(1, wanted.count / 3)
  var best: (name: String, distance: Int)?
  for candidate in names {
    // There may be many names, and many mistakes in a text. The suggestion is irrelevant if the run must end.
    if HostWork.mustEnd() { return nil }
    guard let letters = comparableLetters(of: candidate), abs(letters.count - wanted.count) <= limit,
      candidate != name
    else { continue }
    if wanted.count == 2, letters.count == 2, Set(letters) != Set(wanted) { continue }
    HostWork.note(wanted.count * letters.count >> 6)
    let distance = editDistance(wanted, letters)
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.name ?? beginning(with: name, among: names)
}

/// The only name of which this name (of three letters or more) is the beginning, or that is the beginning of this name:
/// `warning` for `warn`.
private func beginning(with name: String, among names: some Sequence<String>) -> String? {
  let wanted = name.lowercased()
  let found = names.filter { candidate in
    let other = candidate.lowercased()
    let (shorter, longer) = (min(wanted.utf8.count, other.utf8.count), max(wanted.utf8.count, other.utf8.count))
    return shorter >= 3 && longer <= 2 * shorter && shorter < longer
      && (other.hasPrefix(wanted) || wanted.hasPrefix(other))
  }
  return found.count == 1 ? found.first : nil
}

/// `; did you mean NAME?` for the end of a message; empty if no name is near.
package func suggestion(for name: String, among names: some Sequence<String>) -> String {
  nearestName(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
}

/// Longer names are not compared, because the work is quadratic in the length, and input may be hostile.
private let longestCompared = 80

/// The letters of a name, ignoring case; nil for a name that is too long to compare.
private func comparableLetters(of name: String) -> [Unicode.Scalar]? {
  let scalars = name.unicodeScalars
  guard scalars.index(scalars.startIndex, offsetBy: longestCompared + 1, limitedBy: scalars.endIndex) == nil else {
    return nil
  }
  let letters = Array(name.lowercased().unicodeScalars)
  return letters.count <= longestCompared ? letters : nil
}

/// The optimal string alignment distance.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for (row, letter) in left.enumerated() {
    var current = [row + 1]
    for (column, other) in right.enumerated() {
      var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
        cost = min(cost, beforeLast[column - 1] + 1)
      }
      current.append(cost)
    }
    beforeLast = last
    last = current
  }
  return last[right.count]
}
