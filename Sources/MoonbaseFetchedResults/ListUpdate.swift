import MoonbaseGraph
import MoonbaseModel
import OrderedCollections

/// The compiled request of a list: decides which objects belong to the list, where, and in which section.
struct ListMatcher {
  let entities: Range<EntityIndex>
  let sort: CompiledSort
  let sectionPath: String?
  private let predicate: CompiledPredicate?

  init(_ request: FetchRequest, sectionPath: String?, in context: ManagedObjectContext) throws {
    let entity = try context.entity(request.entityName)
    let checked = try context.checked(request)
    entities = entity.indexes(includingSubentities: request.includesSubentities)
    predicate = try checked.predicate.map { try CompiledPredicate($0, entity: entity, in: context.model) }
    sort = try CompiledSort(checked.sortDescriptors, entity: entity, in: context.model)
    self.sectionPath = sectionPath
  }

  /// Whether an object belongs to the list.
  func matches(_ object: ManagedObject) throws -> Bool {
    try entities.contains(object.entity.index) && !object.isDeleted
      && (predicate?.matches(object, memo: EvaluationMemo()) ?? true)
  }

  func rank(of object: ManagedObject) throws -> CompiledSort.Rank { try sort.rank(of: object, memo: nil) }

  func sectionName(of object: ManagedObject) throws -> String {
    try sectionPath.map { try object.sectionName($0) } ?? ""
  }
}

/// Updates a sorted list for changed objects, in time proportional to their number.
struct ListUpdate {
  /// The update would take longer than a new fetch.
  struct TooMuch: Error {}

  /// A changed object that belongs to the list.
  private struct Candidate {
    let id: ManagedObjectID
    let rank: CompiledSort.Rank
    let name: String
    /// The index in the old list.
    let place: Int?
  }

  private let old: ResultList
  private var new: ResultList
  private let matcher: ListMatcher
  private let context: ManagedObjectContext
  private var ranks: [ManagedObjectID: CompiledSort.Rank] = [:]

  init(_ list: ResultList, matcher: ListMatcher, in context: ManagedObjectContext) {
    (old, new, self.matcher, self.context) = (list, list, matcher, context)
  }

  /// The new list and its difference to the old one. Throws if a new fetch is faster or necessary.
  mutating func taking(_ touched: [ManagedObjectID]) throws -> (ResultList, ListDifference) {
    // 8 is the factor by which reading a row by key is slower than reading it in a scan.
    guard touched.count &* (Int.bitWidth - old.count.leadingZeroBitCount) &* 8 <= old.count + 1024 else {
      throw TooMuch()
    }
    let objects = try present(touched)
    var (deleted, changed, arrivals): ([Int], [Candidate], [Candidate]) = ([], [], [])
    for id in touched {
      let place = new.place(of: id)
      guard let object = objects[id], try matcher.matches(object) else {
        if let place { deleted.append(place) }
        continue
      }
      let rank = try matcher.rank(of: object)
      ranks[id] = rank
      let candidate = try Candidate(id: id, rank: rank, name: matcher.sectionName(of: object), place: place)
      if place == nil { arrivals.append(candidate) } else { changed.append(candidate) }
    }
    deleted.sort()
    changed.sort { ($0.place ?? 0) < ($1.place ?? 0) }
    let staying = try staying(changed, deleted: Set(deleted))
    let moving = changed.filter { !staying.contains($0.id) }
    new.remove(at: (deleted + moving.compactMap(\.place)).sorted())
    try insert(arrivals + moving)
    var difference = ListDifference()
    difference.deleted = deleted
    difference.inserted = arrivals.compactMap { new.place(of: $0.id) }.sorted()
    difference.moved = places(of: moving).sorted { $0.new < $1.new }
    difference.updated = places(of: changed.filter { staying.contains($0.id) })
    return (new, difference)
  }

  /// The old and new places of objects that were in the list before.
  private mutating func places(of candidates: [Candidate]) -> [(old: Int, new: Int)] {
    candidates.compactMap { candidate in
      guard let old = candidate.place, let new = new.place(of: candidate.id) else { return nil }
      return (old, new)
    }
  }

  /// The objects that exist, by ID.
  private func present(_ ids: [ManagedObjectID]) throws -> [ManagedObjectID: ManagedObject] {
    var result: [ManagedObjectID: ManagedObject] = [:]
    for object in try context.loadObjects(with: ids.filter { !$0.isTemporaryID }) { result[object.objectID] = object }
    for id in ids where id.isTemporaryID { result[id] = context.registeredObject(for: id) }
    return result
  }

  // MARK: Members that stay

  /// The changed objects that need not move: between unchanged neighbours, a longest subsequence that is in order.
  private mutating func staying(_ changed: [Candidate], deleted: Set<Int>) throws -> Set<ManagedObjectID> {
    var result: Set<ManagedObjectID> = []
    let places = Set(changed.compactMap(\.place)).union(deleted)
    var rest = changed[...]
    while let first = rest.first?.place {
      var (start, end) = (first, first + 1)
      while places.contains(start - 1) { start -= 1 }
      while places.contains(end) { end += 1 }
      let group = rest.prefix { $0.place.map { $0 < end } ?? false }
      rest = rest.dropFirst(group.count)
      let before = start > 0 ? try rank(at: start - 1, of: old) : nil
      let after = end < old.count ? try rank(at: end, of: old) : nil
      let fitting = try group.filter { candidate in
        guard let place = candidate.place, old.name(at: place) == candidate.name else { return false }
        return try (before.map { try isOrdered($0, candidate.rank) } ?? true)
          && (after.map { try isOrdered(candidate.rank, $0) } ?? true)
      }
      for place in try placesOfLongestOrder(fitting, { try isOrdered($0.rank, $1.rank) }) {
        result.insert(fitting[place].id)
      }
    }
    return result
  }

  private func isOrdered(_ left: CompiledSort.Rank, _ right: CompiledSort.Rank) throws -> Bool {
    try matcher.sort.order(left, right) != .descending
  }

  /// The sort rank of the object at a place, cached.
  private mutating func rank(at place: Int, of list: ResultList) throws -> CompiledSort.Rank {
    let id = list.ids[place]
    if let known = ranks[id] { return known }
    let rank = try matcher.rank(of: context.object(with: id))
    ranks[id] = rank
    return rank
  }

  // MARK: Members that come

  /// Inserts objects at their places, behind objects that sort equally.
  private mutating func insert(_ candidates: [Candidate]) throws {
    var arrivals: [ResultList.Arrival] = []
    var taken = 0
    let sorted = try candidates.enumerated().sorted { left, right in
      switch try matcher.sort.order(left.element.rank, right.element.rank) {
      case .same: left.offset < right.offset
      case let order: order == .ascending
      }
    }
    for (_, candidate) in sorted {
      var (low, high) = (taken, new.count)
      while low < high {
        let middle = (low + high) / 2
        if try isOrdered(rank(at: middle, of: new), candidate.rank) { low = middle + 1 } else { high = middle }
      }
      new.insert(candidate.id, at: low)
      arrivals.append(ResultList.Arrival(id: candidate.id, place: low, name: candidate.name))
      taken = low + 1
    }
    try new.assign(arrivals)
  }
}
