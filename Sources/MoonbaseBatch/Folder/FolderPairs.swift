import MoonbaseModel
import MoonbasePlatform

/// Whether the two sides of each relationship say the same in a folder.
///
/// Of each pair of sides a sum is kept: what one side says is added, what the other says is taken away, so that nothing is left where they agree, in whatever
/// order the lines come, and nothing has to be remembered.
struct FolderPairs {
  /// A side of a pair in the lines of one entity.
  private struct Side {
    let property: ResolvedProperty
    let pair: PropertyID
    /// Which sign its links have, seen from the pair's first side.
    let isFirst: Bool
    let isBoth: Bool
  }

  private let folder: ExportedFolder
  private let entities: [ResolvedEntity]
  private let model: ResolvedModel
  private var sides: [EntityIndex: [Side]] = [:]
  private var sums: [PropertyID: Int] = [:]

  init(_ folder: ExportedFolder, _ entities: [ResolvedEntity], of model: ResolvedModel) {
    (self.folder, self.entities, self.model) = (folder, entities, model)
    for entity in entities {
      sides[entity.index] = entity.properties.compactMap { property in
        guard !property.isTransient, let relationship = property.relationship, let slot = relationship.inverseSlot
        else {
          return nil
        }
        let inverse = model.destination(of: relationship).properties[slot]
        // Two to-one sides are two columns, each of which comes as it was: in stores of apps they need not agree.
        guard !inverse.isTransient, relationship.isToMany || relationship.isInverseToMany else { return nil }
        let isFirst = property.id < inverse.id
        return Side(
          property: property, pair: isFirst ? property.id : inverse.id, isFirst: isFirst,
          isBoth: property.id == inverse.id)
      }
    }
  }

  /// Takes in what a line says. What cannot be read is told of when the line is taken.
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

  private static func forEachLink(_ reader: JSONReader, _ property: ResolvedProperty, _ body: (String) -> Void) {
    guard let column = reader.column(named: property.name) else { return }
    let field = reader.field(column)
    if field.kind == .text { return field.text.map(body) ?? () }
    guard field.kind == .nested, case .list(let list)? = try? Value(json: field.bytes) else { return }
    for case .string(let uri) in list { body(uri) }
  }

  private static func hash(_ one: (EntityIndex, Int64), _ other: (EntityIndex, Int64)) -> Int {
    var hasher = Hasher()
    hasher.combine(one.0)
    hasher.combine(one.1)
    hasher.combine(other.0)
    hasher.combine(other.1)
    return hasher.finalize()
  }

  /// Throws where two sides contradict each other, and names the line of one of them.
  func check(against keys: FolderKeys) throws {
    guard let pair = sums.filter({ $0.value != 0 }).keys.min() else { return }
    // Which link it is was not kept: the files are read again. One to an object that there is not is told of before others.
    var contradiction: ImportError?
    for (said, missing) in [(true, false), (false, true)] {
      var known: Set<Int> = []
      try forEachLink(of: pair, fromFirst: missing) { hash, _, _, _, _ in known.insert(hash) }
      try forEachLink(of: pair, fromFirst: said) { hash, entity, line, side, other in
        guard !known.contains(hash) else { return }
        if let (entityOfOther, key) = ExportedFolder.object(other, in: model),
          !keys.contains(key, of: entityOfOther.root)
        {
          throw ImportError(
            message:
              "\(folder.path(of: entity)), line \(line), \(side.property.name) ('\(other)'): there is no such object in the folder"
          )
        }
        guard contradiction == nil else { return }
        let inverse = side.property.relationship.flatMap { relationship in
          relationship.inverseSlot.map { model.destination(of: relationship).properties[$0].name }
        }
        contradiction = ImportError(
          message:
            "\(folder.path(of: entity)), line \(line), \(side.property.name): \(other) does not say the same in its "
            + "\(inverse ?? "inverse"): mend one of the two lines")
      }
    }
    if let contradiction { throw contradiction }
    for isFirst in [true, false] {
      var (last, known): (Int64, Set<String>) = (0, [])
      try forEachLink(of: pair, fromFirst: isFirst) { _, entity, line, side, other in
        if line != last { (last, known) = (line, []) }
        guard !known.insert(other).inserted else { return }
        throw ImportError(
          message: "\(folder.path(of: entity)), line \(line), \(side.property.name): \(other) stands there twice")
      }
    }
    throw ImportError(
      message: "\(folder.path): \(model.entities[pair.entity].properties[pair.slot].name) names an object twice")
  }

  private func forEachLink(
    of pair: PropertyID, fromFirst: Bool,
    _ body: (Int, ResolvedEntity, Int64, Side, String) throws -> Void
  ) throws {
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
            let (own, other) = ((entity.root, ownKey), (entityOfOther.root, key))
            let hash = fromFirst ? Self.hash(own, other) : Self.hash(other, own)
            try body(hash, entity, reader.line, side, uri)
          }
        }
      }
    }
  }
}
