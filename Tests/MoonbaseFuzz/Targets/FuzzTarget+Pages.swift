import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport

extension FuzzTarget {
  /// Rows in pages: filled, passed on, walked by objects that are released, saved and read again.
  static let pages = FuzzTarget(name: "pages", seeds: seeds) { bytes in
    var program = PageProgram(rest: bytes[...])
    do { try program.run() } catch { preconditionFailure("\(error)") }
  }

  private static let seeds: [[UInt8]] = (0..<8).map { seed in
    var random = SplitMix(UInt64(seed))
    return (0..<200 + 100 * seed).map { _ in UInt8(random.next(256)) }
  }
}

/// A sequence of page operations that bytes describe. Values read must equal those written.
private struct PageProgram {
  var rest: ArraySlice<UInt8>
  /// The names of saved people, by ID.
  private var names: [ManagedObjectID: String] = [:]

  init(rest: ArraySlice<UInt8>) { self.rest = rest }

  /// A number below a bound; 0 at the end.
  private mutating func next(_ bound: Int) -> Int {
    let (high, low) = (rest.popFirst() ?? 0, bound > 256 ? rest.popFirst() ?? 0 : 0)
    return (Int(high) << 8 | Int(low)) / (bound > 256 ? 1 : 256) % bound
  }

  private mutating func text() -> String {
    let count = next(4) == 0 ? next(6000) : next(40)
    return String(repeating: ["a", "é", "ß", "漢"][next(4)], count: count)
  }

  private mutating func value() -> Value {
    switch next(8) {
    case 0: .null
    case 1: .bool(next(2) == 0)
    case 2: .int(Int64(next(60_000)) - 30_000)
    case 3: .double(Double(next(60_000)) / 7)
    case 4: .date(Date(timeIntervalSinceReferenceDate: Double(next(60_000))))
    case 5: .string(text())
    case 6: .data(Data(repeating: UInt8(next(256)), count: next(6000)))
    default: .decimal(Decimal(next(60_000)))
    }
  }

  mutating func run() throws {
    let kind: StoreKind = next(4) == 0 ? .sqlite : .memory
    try fillPage()
    try walk(over: kind)
  }

  /// Sets values in a page, and reads them in another order.
  private mutating func fillPage() throws {
    let model = try People.model().resolved()
    guard let entity = model.entity("Person") else { preconditionFailure("there are no people") }
    let capacity = 1 + next(40)
    let builder = RowPageBuilder(entity: entity, store: "store", capacity: capacity)
    var rows: [[Value]] = []
    while !builder.isFull, rows.count < capacity - next(2) {
      let values = entity.properties.map { _ in value() }
      builder.beginRow(key: Int64(rows.count), version: 1)
      for (slot, value) in values.enumerated() { builder.set(value, slot: slot) }
      builder.endRow()
      rows.append(values)
    }
    let page = builder.finish()
    var batch = RowBatch()
    for place in rows.indices where next(3) > 0 { batch.append(Snapshot(page, at: place)) }
    for row in batch.reversed() { precondition(row.values.elementsEqual(rows[Int(row.id.key)]), "a row changed") }
  }

  /// Saves people, walks over them, changes them before and behind the walk, and releases them.
  private mutating func walk(over kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var context = bench.context()
    for _ in 0..<4 + next(400) {
      let text = text()
      let person = try context.insert("Person", values: ["firstName": .string(text), "born": value(of: next(2))])
      if next(8) == 0 { person["lastName"] = .string(self.text()) }
    }
    let new = context.insertedObjects
    try context.save()
    for person in new { names[person.objectID] = person["firstName"].text }
    for _ in 0..<3 {
      if next(3) == 0 { context = bench.context() }
      var request = FetchRequest("Person")
      request.fetchBatchSize = next(3) == 0 ? 1 + next(40) : 0
      try walk(context.fetchedObjects(request), in: context)
      try context.save()
    }
  }

  private func value(of number: Int) -> Value {
    number == 0 ? .null : .date(Date(timeIntervalSinceReferenceDate: 1))
  }

  private mutating func walk(_ found: FetchedObjects, in context: ManagedObjectContext) throws {
    var kept: [ManagedObject] = []
    let ids = found.objectIDs
    for place in 0..<found.count {
      guard let person = try found.existingObject(at: place) else { preconditionFailure("a row is gone") }
      look(at: person)
      guard let step = rest.first, step < 120 else { continue }
      switch next(256) % 8 {
      case 0: kept.append(person)
      case 1: kept.removeAll()
      case 2: try context.save()
      case 3: try change(person)
      case 4: try change(context.object(with: ids[next(ids.count)]))
      case 5: look(at: found[next(found.count)])
      case 6: try context.refresh(person, mergeChanges: true)
      default: kept.forEach(look)
      }
    }
  }

  private mutating func change(_ person: ManagedObject) throws {
    let (former, texts) = (names[person.objectID] ?? "", [text(), text()])
    // Bytes in use are unchanged, whatever happens to the row meanwhile.
    let isChanged: Void? = try person.withText(Self.name) { bytes in
      for text in texts { try person.setValue(.string(text), forKey: "firstName") }
      precondition(bytes.elementsEqual(former.utf8), "\(person.objectID): bytes changed that somebody looked at")
    }
    precondition(isChanged != nil, "\(person.objectID) has no name")
    names[person.objectID] = texts[1]
  }

  private static let name = Attribute<ManagedObject, String>("firstName")

  private func look(at person: ManagedObject) {
    let name = names[person.objectID] ?? ""
    precondition(
      person.withText(Self.name) { $0.elementsEqual(name.utf8) } == true, "\(person.objectID) has another name")
    precondition(person[Self.name] == name, "\(person.objectID) has another name")
  }
}

extension Value {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
