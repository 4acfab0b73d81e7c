/// Sorts tables so that referenced tables precede the tables that refer to them. In a cycle the first table of the
/// cycle comes first.
///
/// This is Kahn's algorithm with a priority queue: O(n log n) for n tables and references. Among
/// tables that may come next, the first in the given order is taken.
struct TableOrder {
  /// The numbers of the tables, in order.
  private(set) var tables: [Int] = []
  /// The position of each table in the order.
  private(set) var places: [Int]

  /// `parents` lists the tables referenced by each table, which may include the table itself.
  init(_ tables: [Int], leadingTo parents: [[Int]]) {
    places = Array(repeating: -1, count: parents.count)
    self.tables.reserveCapacity(tables.count)
    var children: [[Int]] = Array(repeating: [], count: parents.count)
    var missing = Array(repeating: 0, count: parents.count)
    for table in tables {
      for parent in Set(parents[table]) where parent != table {
        children[parent].append(table)
        missing[table] += 1
      }
    }
    var (ready, first) = (SmallestFirst(tables.filter { missing[$0] == 0 }), 0)
    while self.tables.count < tables.count {
      while places[tables[first]] >= 0 { first += 1 }
      let next = ready.removeSmallest { places[$0] < 0 } ?? tables[first]
      places[next] = self.tables.count
      self.tables.append(next)
      for child in children[next] {
        missing[child] -= 1
        if missing[child] == 0, places[child] < 0 { ready.insert(child) }
      }
    }
  }

  /// Whether a table follows another.
  func comes(_ table: Int, after other: Int) -> Bool { places[other] >= 0 && places[other] < places[table] }
}

/// A priority queue of numbers.
private struct SmallestFirst {
  /// A binary heap with the smallest number at the root.
  private var numbers: [Int] = []

  /// A queue with these numbers.
  init(_ numbers: [Int]) {
    for number in numbers { insert(number) }
  }

  /// Adds a number, in logarithmic time.
  mutating func insert(_ number: Int) {
    numbers.append(number)
    var place = numbers.count - 1
    while place > 0, numbers[place] < numbers[(place - 1) / 2] {
      numbers.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Removes the smallest number that satisfies the condition; nil if there is none.
  mutating func removeSmallest(where isWanted: (Int) -> Bool) -> Int? {
    while let number = removeSmallest() {
      if isWanted(number) { return number }
    }
    return nil
  }

  /// Removes the smallest number.
  private mutating func removeSmallest() -> Int? {
    guard let first = numbers.first else { return nil }
    numbers.swapAt(0, numbers.count - 1)
    numbers.removeLast()
    var place = 0
    while let least = [2 * place + 1, 2 * place + 2].filter({ $0 < numbers.count }).min(by: {
      numbers[$0] < numbers[$1]
    }),
      numbers[least] < numbers[place]
    {
      numbers.swapAt(place, least)
      place = least
    }
    return first
  }
}
