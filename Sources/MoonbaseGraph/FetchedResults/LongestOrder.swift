/// The places of a longest run of elements that are in order, ascending: all others have to move, and no fewer would do.
///
/// `isOrdered` says whether one element may come before another; it is asked n log n times.
func placesOfLongestOrder<Element>(
  _ elements: [Element], _ isOrdered: (Element, Element) throws -> Bool
) rethrows -> [Int] {
  // By length, the place of the element with which a run of that length ends, the least of those that were found.
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
