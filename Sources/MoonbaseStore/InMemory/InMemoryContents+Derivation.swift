package import MoonbaseModel
import MoonbasePlatform

/// How rows of one entity lead back to the rows that are derived from them, step by step.
package struct DerivationSource {
  package enum Step {
    /// To the destination of a to-one relationship, the former one too.
    case destination(Slot)
    /// To the rows whose to-one relationship points at the row.
    case pointers(PropertyID)
    /// To the other side of many-to-many links.
    case links(PropertyID)
    /// To the owners of a to-many relationship without an inverse.
    case owners(PropertyID)
  }

  package var steps: [Step]

  /// By entity, for all derivations of a model.
  package static func all(of model: ResolvedModel) -> [EntityIndex: [DerivationSource]] {
    var sources: [EntityIndex: [DerivationSource]] = [:]
    for entity in model.entities {
      for derivation in model.storedDerivations(of: entity)
      where entity.properties[derivation.slot].declaringEntity == entity.index {
        for (index, source) in derivation.sources(in: model) {
          for kind in model.entities[index].subtree { sources[kind, default: []].append(source) }
        }
      }
    }
    return sources
  }
}

extension StoredDerivation {
  /// The sources on which a derivation depends, with their entities.
  fileprivate func sources(in model: ResolvedModel) -> [(EntityIndex, DerivationSource)] {
    // Each entity of the path except the first: a row's own derivations run with each save of that row.
    var sources: [(EntityIndex, DerivationSource)] = []
    var back: [DerivationSource.Step] = []
    for (place, slot) in path.enumerated() {
      back.insert(.pointers(model.entities[entities[place]].properties[slot].id), at: 0)
      sources.append((entities[place + 1], DerivationSource(steps: back)))
    }
    guard case .collection(let slot, _, _) = result else { return sources }
    let property = model.entities[entities[path.count]].properties[slot]
    guard let relationship = property.relationship else { return sources }
    let destination = model.destination(of: relationship)
    let first: DerivationSource.Step =
      if let inverse = relationship.inverseSlot {
        relationship.isManyToMany ? .links(destination.properties[inverse].id) : .destination(inverse)
      } else {
        .owners(property.id)
      }
    return sources + [(destination.index, DerivationSource(steps: [first] + back))]
  }
}

/// Attributes that the store derives from saved rows, as the triggers of a SQLite store do. Derivation leaves row
/// versions unchanged.
extension InMemoryContents {
  /// Marks the rows whose derived attributes depend on a written or deleted row.
  mutating func noteSource(_ id: ManagedObjectID, from old: Snapshot?, to new: Snapshot?) {
    guard derives, let entity = model.entity(of: id) else { return }
    if new != nil, !plans[entity.index].derivations.isEmpty { underived.insert(id) }
    for source in sources[entity.index] ?? [] {
      for owner in owners(by: source, of: id, from: old, to: new) { underived.insert(owner) }
    }
  }

  /// The rows whose derived attributes depend on a row by a source's path.
  private func owners(
    by source: DerivationSource, of id: ManagedObjectID, from old: Snapshot?, to new: Snapshot?
  ) -> Set<ManagedObjectID> {
    var ids: Set<ManagedObjectID> = [id]
    for step in source.steps {
      switch step {
      case .destination(let slot):
        ids = Set(
          [old, new].compactMap { row in
            if case .objectID(let destination)? = row?.values[slot] { destination } else { nil }
          })
      case .pointers(let key): ids = Set(ids.flatMap { pointers[key]?[$0] ?? [] })
      case .links(let key): ids = Set(ids.flatMap { Array(links[key]?[$0] ?? MemberList()) })
      case .owners(let key): ids = Set((links[key] ?? [:]).filter { !ids.isDisjoint(with: $0.value) }.keys)
      }
    }
    return ids
  }

  /// Recomputes the derived attributes of marked rows, and the time of the last save for rows in `saved`. Returns the
  /// IDs of rows whose values changed.
  mutating func derive(saved: Set<ManagedObjectID>) -> [ManagedObjectID] {
    guard derives else { return [] }
    var changed: Set<ManagedObjectID> = []
    let date = Value.date(Date())
    for round in 0..<StoredDerivation.greatestRounds where !underived.isEmpty {
      let ids = underived
      underived = []
      for id in ids {
        guard let entity = model.entity(of: id), let old = row(of: id) else { continue }
        var values = ContiguousArray(old.values)
        for derivation in plans[entity.index].derivations {
          if case .now = derivation.result {
            if round == 0, saved.contains(id) { values[derivation.slot] = date }
          } else {
            let value = value(of: derivation, for: old)
            let property = entity.properties[derivation.slot]
            if misfit == nil { misfit = property.misfit(value, of: id) }
            // A sum over no rows is an integer.
            values[derivation.slot] = (try? property.attribute?.checked(value)) ?? value
          }
        }
        guard !values.elementsEqual(old.values) else { continue }
        replace(old, with: Snapshot(id: id, version: old.version, values: values), of: entity)
        changed.insert(id)
      }
    }
    underived = []
    return Array(changed)
  }

  /// The derived value for a row.
  private func value(of derivation: StoredDerivation, for row: Snapshot) -> Value {
    derivation.value(for: row) {
      self.row(of: $0)
    } destinations: {
      destinations(of: $0, slot: $1)
    }
  }
}

extension StoredDerivation {
  /// The derived value of an attribute for a row. `rowOf` and `destinations` read from the store. The caller sets the
  /// current date.
  package func value(
    for row: Snapshot, rowOf find: (ManagedObjectID) throws -> Snapshot?,
    destinations: (ManagedObjectID, Slot) throws -> [ManagedObjectID]
  ) rethrows -> Value {
    var place = row
    for slot in path {
      guard case .objectID(let id) = place.values[slot], let next = try find(id) else { return .null }
      place = next
    }
    switch result {
    case .now: return row.values[self.slot]
    case .value(let slot, nil): return place.values[slot]
    case .value(let slot, let function?): return (try? function.evaluate([place.values[slot]])) ?? .null
    case .collection(let relationship, nil, _): return .int(Int64(try destinations(place.id, relationship).count))
    case .collection(let relationship, let slot?, let function):
      let rows = try destinations(place.id, relationship).compactMap(find)
      return (try? function.derive(from: rows.map { $0.values[slot] })) ?? .null
    }
  }
}
