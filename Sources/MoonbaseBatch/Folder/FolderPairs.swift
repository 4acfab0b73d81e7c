import MoonbaseModel
import MoonbasePlatform

/// Checks that both sides of each relationship agree in a folder.
///
/// Each relationship has a sum: the links of one side are added, those of the other side subtracted. The sum is zero if
/// both sides agree, whatever the order of the lines, so that no links need to be kept.
///
/// `FolderKeys` counts the links of each line, and then calls `check(against:)`. A nonzero sum
/// means a contradiction; only then are the files read again to find the line.
struct FolderPairs {
  /// A side of a relationship in the lines of an entity.
  private struct Side {
    /// The relationship on this side.
    let property: ResolvedProperty
    /// The property that stands for both sides: the one with the smaller identifier.
    let pair: PropertyID
    /// Whether the side's links are added instead of subtracted.
    let isFirst: Bool
    /// Whether the relationship is its own inverse.
    let isBoth: Bool
    /// Whether both sides are to-one.
    let isOneToOne: Bool
  }

  /// A link from a side to another object, in a line of the folder.
  private struct Link {
    /// The object of the line.
    let own: Place
    /// The object that the line refers to.
    let other: Place
    /// The text of the reference, for messages.
    let uri: String
    /// The side that has the link.
    let side: Side
    /// The entity of the line.
    let entity: ResolvedEntity
    /// The number of the line.
    let line: Int64
  }

  /// An object by root entity and key.
  private struct Place: Hashable {
    let root: EntityIndex
    let key: Int64
  }

  /// The folder, which is read again to report a contradiction.
  private let folder: ExportedFolder
  /// The entities with rows.
  private let entities: [ResolvedEntity]
  /// The model of the store.
  private let model: ResolvedModel
  /// The sides by entity.
  private var sides: [EntityIndex: [Side]] = [:]
  /// The sum of each relationship, which wraps around on overflow.
  private var sums: [PropertyID: Int] = [:]

  /// The sums of a folder, before any line is counted.
  init(_ folder: ExportedFolder, _ entities: [ResolvedEntity], of model: ResolvedModel) {
    (self.folder, self.entities, self.model) = (folder, entities, model)
    for entity in entities {
      sides[entity.index] = entity.properties.compactMap { property in
        guard !property.isTransient, let relationship = property.relationship, let slot = relationship.inverseSlot
        else {
          return nil
        }
        let inverse = model.destination(of: relationship).properties[slot]
        guard !inverse.isTransient else { return nil }
        let isFirst = property.id < inverse.id
        return Side(
          property: property, pair: isFirst ? property.id : inverse.id, isFirst: isFirst,
          isBoth: property.id == inverse.id,
          isOneToOne: !relationship.isToMany && !relationship.isInverseToMany)
      }
    }
  }

  /// Adds the links of a line. Unreadable values are reported when the line is imported.
  ///
  /// The work is proportional to the number of links in the line.
  mutating func count(_ reader: JSONReader, of entity: ResolvedEntity, _ key: Int64) {
    for side in sides[entity.index] ?? [] {
      Self.forEachLink(reader, side.property) { other in
        guard let (entityOfOther, otherKey) = ExportedFolder.object(other, in: model) else { return }
        let (own, other) = ((entity.root, key), (entityOfOther.root, otherKey))
        if side.isFirst || side.isBoth { sums[side.pair, default: 0] &+= Self.hash(own, other) }
        if !side.isFirst || side.isBoth { sums[side.pair, default: 0] &-= Self.hash(other, own) }
      }
    }
  }

  /// Calls `body` with each URI of a relationship in the current line.
  private static func forEachLink(_ reader: JSONReader, _ property: ResolvedProperty, _ body: (String) -> Void) {
    guard let column = reader.column(named: property.name) else { return }
    let field = reader.field(column)
    if field.kind == .text { return field.text.map(body) ?? () }
    guard field.kind == .nested, case .list(let list)? = try? Value(json: field.bytes) else { return }
    for case .string(let uri) in list { body(uri) }
  }

  /// The hash of a pair, which depends on the order of its objects.
  private static func hash(_ one: (EntityIndex, Int64), _ other: (EntityIndex, Int64)) -> Int {
    var hasher = Hasher()
    hasher.combine(one.0)
    hasher.combine(one.1)
    hasher.combine(other.0)
    hasher.combine(other.1)
    return hasher.finalize()
  }

  /// Throws if two sides contradict each other, naming the line of a contradiction.
  ///
  /// Throws `ImportError`. A reference to a missing object is reported before a contradiction.
  func check(against keys: FolderKeys) throws {
    for pair in sums.filter({ $0.value != 0 }).keys.sorted() { try check(pair, against: keys) }
  }

  /// Reads the links of a relationship again, to find a line to name.
  private func check(_ pair: PropertyID, against keys: FolderKeys) throws {
    let isOneToOne = sides.values.joined().contains { $0.pair == pair && $0.isOneToOne }
    if isOneToOne { return try checkOneToOne(pair) }
    // The links were not kept, so the files are read again. A link to a missing object is reported first.
    var contradiction: ImportError?
    for (said, missing) in [(true, false), (false, true)] {
      var known: Set<Int> = []
      try forEachLink(of: pair, fromFirst: missing) { known.insert(Self.hash($0, isFirst: missing)) }
      try forEachLink(of: pair, fromFirst: said) { link in
        guard !known.contains(Self.hash(link, isFirst: said)) else { return }
        guard keys.contains(link.other.key, of: link.other.root) else {
          throw ImportError(
            message: "\(place(of: link)) ('\(link.uri)'): there is no such object in the folder")
        }
        contradiction = contradiction ?? self.contradiction(link)
      }
    }
    if let contradiction { throw contradiction }
    for isFirst in [true, false] {
      var (last, known): (Int64, Set<String>) = (0, [])
      try forEachLink(of: pair, fromFirst: isFirst) { link in
        if link.line != last { (last, known) = (link.line, []) }
        guard !known.insert(link.uri).inserted else { return }
        throw ImportError(message: "\(place(of: link)): \(link.uri) stands there twice")
      }
    }
    throw ImportError(
      message: "\(folder.path): \(model.entities[pair.entity].properties[pair.slot].name) names an object twice")
  }

  /// Two to-one sides are two columns, and each is imported unchanged. In an app's store one of the columns may be
  /// empty, but it must not refer to a different object.
  ///
  /// Throws `ImportError` for the first contradiction.
  private func checkOneToOne(_ pair: PropertyID) throws {
    for isFirst in [true, false] {
      var others: [Place: Place] = [:]
      try forEachLink(of: pair, fromFirst: !isFirst) { others[$0.own] = $0.other }
      try forEachLink(of: pair, fromFirst: isFirst) { link in
        if let back = others[link.other], back != link.own { throw contradiction(link) }
      }
    }
  }

  /// The file, the line and the property of a link, for a message.
  private func place(of link: Link) -> String {
    "\(folder.path(of: link.entity)), line \(link.line), \(link.side.property.name)"
  }

  /// The error that the two sides of a link contradict each other.
  private func contradiction(_ link: Link) -> ImportError {
    let inverse = link.side.property.relationship.flatMap { relationship in
      relationship.inverseSlot.map { model.destination(of: relationship).properties[$0].name }
    }
    return ImportError(
      message:
        "\(place(of: link)): \(link.uri) does not say the same in its \(inverse ?? "inverse"): mend one of the two lines"
    )
  }

  /// The hash of a link, with the object of the first side first.
  private static func hash(_ link: Link, isFirst: Bool) -> Int {
    let (own, other) = ((link.own.root, link.own.key), (link.other.root, link.other.key))
    return isFirst ? hash(own, other) : hash(other, own)
  }

  /// Reads all links of a relationship from one of its sides.
  private func forEachLink(of pair: PropertyID, fromFirst: Bool, _ body: (Link) throws -> Void) throws {
    for entity in entities {
      let wanted = (sides[entity.index] ?? []).filter { $0.pair == pair && ($0.isFirst == fromFirst || $0.isBoth) }
      guard !wanted.isEmpty else { continue }
      let reader = try folder.reader(of: entity)
      while try folder.next(reader, of: entity) {
        guard let ownKey = reader.id.flatMap(ExportedFolder.key) else { continue }
        for side in wanted {
          var links: [String] = []
          Self.forEachLink(reader, side.property) { links.append($0) }
          for uri in links {
            guard let (entityOfOther, key) = ExportedFolder.object(uri, in: model) else { continue }
            try body(
              Link(
                own: Place(root: entity.root, key: ownKey), other: Place(root: entityOfOther.root, key: key), uri: uri,
                side: side, entity: entity, line: reader.line))
          }
        }
      }
    }
  }
}
