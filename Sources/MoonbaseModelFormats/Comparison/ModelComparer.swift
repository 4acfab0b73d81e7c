import MoonbaseModel
import MoonbasePlatform

/// Compares two models entity by entity and property by property.
///
/// Elements are matched by `RenamingMatcher`, and their settings compared by `AspectTable`. Neither
/// model needs to be valid. The work is proportional to the number of elements.
struct ModelComparer {
  /// The older model.
  let old: ManagedObjectModel
  /// The newer model.
  let new: ManagedObjectModel

  /// The differences, in the order of the newer model, followed by removed entities.
  func compare() -> ModelDifference {
    let oldEntities = old.entitiesByName
    let matcher = RenamingMatcher(old: old.entities, new: new.entities)
    let (oldHashes, newHashes) = (hashes(of: old), hashes(of: new))
    var difference = ModelDifference()
    for entity in new.entities {
      let source = matcher.oldNames[entity.name].flatMap { oldEntities[$0] }
      let hashDiffers = source.map { oldHashes[$0.name] != newHashes[entity.name] } ?? true
      if let changed = compare(source, new: entity, needsMigration: hashDiffers) { difference.entities.append(changed) }
    }
    for name in matcher.removed(from: old.entities) {
      difference.entities.append(EntityDifference(kind: .removed, name: name, needsMigration: true))
    }
    difference.others = others()
    return difference
  }

  /// Computes hashes without checking the model first, because differences are shown for invalid models too.
  private func hashes(of model: ManagedObjectModel) -> [String: Data] {
    (try? model.resolved().versionHashes) ?? [:]
  }

  // MARK: Entities

  /// The difference of an entity; nil if there is none. `old` is nil for an added entity.
  private func compare(_ old: EntityDescription?, new: EntityDescription, needsMigration: Bool) -> EntityDifference? {
    guard let old else { return EntityDifference(kind: .added, name: new.name, needsMigration: true) }
    var difference = EntityDifference(
      kind: old.name == new.name ? .changed : .renamed, name: new.name,
      oldName: old.name == new.name ? nil : old.name, needsMigration: needsMigration)
    difference.aspects = AspectTable(entity: old).differences(to: AspectTable(entity: new))
    difference.properties =
      properties(old.attributes, news: new.attributes, oldEntity: old, newEntity: new)
      + properties(old.relationships, news: new.relationships, oldEntity: old, newEntity: new)
      + fetchedProperties(old, new: new)
    let isSame =
      difference.kind == .changed && !needsMigration && difference.aspects.isEmpty && difference.properties.isEmpty
    return isSame ? nil : difference
  }

  // MARK: Properties

  /// The differences of attributes or relationships. An added or removed property lists all of its
  /// settings.
  private func properties<Property: ComparableProperty>(
    _ olds: [Property], news: [Property], oldEntity: EntityDescription, newEntity: EntityDescription
  ) -> [PropertyDifference] {
    let matcher = RenamingMatcher(old: olds, new: news)
    let byName = Dictionary(olds.map { ($0.name, $0) }) { first, _ in first }
    var result: [PropertyDifference] = []
    for property in news {
      guard let source = matcher.oldNames[property.name].flatMap({ byName[$0] }) else {
        result.append(
          PropertyDifference(
            kind: .added, name: property.name, movedBetween: owner(of: property.name, near: newEntity, in: old),
            needsMigration: !property.isTransient, aspects: AspectTable().differences(to: AspectTable(property))))
        continue
      }
      let aspects = AspectTable(source).differences(to: AspectTable(property))
      let isRenamed = source.name != property.name
      if !isRenamed, aspects.isEmpty { continue }
      let hashDiffers = source.versionHash != property.versionHash && !(source.isTransient && property.isTransient)
      result.append(
        PropertyDifference(
          kind: isRenamed ? .renamed : .changed, name: property.name, oldName: isRenamed ? source.name : nil,
          needsMigration: hashDiffers, aspects: aspects))
    }
    for name in matcher.removed(from: olds) {
      guard let property = byName[name] else { continue }
      result.append(
        PropertyDifference(
          kind: .removed, name: name, movedBetween: owner(of: name, near: oldEntity, in: new),
          needsMigration: !property.isTransient, aspects: AspectTable(property).differences(to: AspectTable())))
    }
    return result
  }

  /// The entity that has a property in the other model, among the ancestors and descendants of its entity here.
  ///
  /// If there is an entity, the property was moved within the hierarchy.
  private func owner(of name: String, near entity: EntityDescription, in other: ManagedObjectModel) -> String? {
    let relatives = other.entities.filter { candidate in
      candidate.name != entity.name
        && (other.inherits(entity.name, from: candidate.name) || other.inherits(candidate.name, from: entity.name))
    }
    return relatives.first { relative in
      relative.attributes.contains { $0.name == name } || relative.relationships.contains { $0.name == name }
    }?.name
  }

  /// The differences of fetched properties, which never require a migration.
  private func fetchedProperties(_ old: EntityDescription, new: EntityDescription) -> [PropertyDifference] {
    let olds = Dictionary(old.fetchedProperties.map { ($0.name, $0) }) { first, _ in first }
    let news = Dictionary(new.fetchedProperties.map { ($0.name, $0) }) { first, _ in first }
    let names = Set(olds.keys).union(news.keys).sorted()
    return names.compactMap { name in
      let aspects = (olds[name].map(AspectTable.init(fetchedProperty:)) ?? AspectTable())
        .differences(to: news[name].map(AspectTable.init(fetchedProperty:)) ?? AspectTable())
      let kind: DifferenceKind = olds[name] == nil ? .added : news[name] == nil ? .removed : .changed
      if kind == .changed, aspects.isEmpty { return nil }
      return PropertyDifference(kind: kind, name: name, needsMigration: false, aspects: aspects)
    }
  }

  // MARK: The rest

  /// The differences of templates, configurations and version identifiers.
  private func others() -> [AspectDifference] {
    AspectTable(model: old).differences(to: AspectTable(model: new))
  }
}

/// The common interface of attributes and relationships for comparison.
protocol ComparableProperty: NamedDescription {
  /// Whether the property is not stored.
  var isTransient: Bool { get }
  /// The hash that decides whether a store needs a migration.
  var versionHash: Data { get }
}

extension AttributeDescription: ComparableProperty {}
extension RelationshipDescription: ComparableProperty {}

extension ManagedObjectModel {
  /// Whether an entity inherits from another. Safe for unchecked models.
  ///
  /// The search ends after as many steps as there are entities, so that a cycle does no harm.
  func inherits(_ name: String, from ancestor: String) -> Bool {
    let entities = entitiesByName
    var current = entities[name]?.superentityName
    var steps = 0
    while let parent = current, steps < entities.count {
      if parent == ancestor { return true }
      current = entities[parent]?.superentityName
      steps += 1
    }
    return false
  }
}
