import MoonbaseGraph

/// The ascending indexes of a longest subsequence that is in order: all other elements have to move, and their number
/// is minimal.
///
/// `isOrdered` returns whether one element may come before another; it is called n log n times.
func placesOfLongestOrder<Element>(
  _ elements: [Element], _ isOrdered: (Element, Element) throws -> Bool
) rethrows -> [Int] {
  // For each length, the index of the least element found so far with which a subsequence of that length ends.
  var ends: [Int] = []
  var before: [Int?] = []
  before.reserveCapacity(elements.count)
  for place in elements.indices {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if try isOrdered(elements[ends[middle]], elements[place]) { low = middle + 1 } else { high = middle }
    }
    before.append(low > 0 ? ends[low - 1] : nil)
    if low == ends.count { ends.append(place) } else { ends[low] = place }
  }
  var result: [Int] = []
  var next = ends.last
  while let place = next {
    result.append(place)
    next = before[place]
  }
  return result.reversed()
}
