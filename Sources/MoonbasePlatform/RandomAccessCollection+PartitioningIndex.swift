extension RandomAccessCollection where Index == Int {
  /// The first index from which on all elements satisfy the condition, found by binary search.
  package func partitioningIndex(_ holds: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
