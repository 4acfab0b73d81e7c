import MoonbaseModel

/// The boxes and lines of a diagram, without positions.
///
/// The content is the common source of both forms: `DiagramSVG` draws it with a `DiagramLayout`,
/// and `MermaidDiagram` writes it as text. Box `n` is entity `n` of the model.
struct DiagramContent {
  /// A line of text in a box.
  struct Row {
    /// The name of the property.
    var name: String
    /// The type or the destination, with marks such as `?` and the bounds of a to-many
    /// relationship.
    var type: String
    /// The depth within a composite attribute.
    var depth = 0
    /// Whether the property is not stored, shown in italics.
    var isTransient = false
    /// Whether the attribute is derived, shown with a slash.
    var isDerived = false
    /// Whether the attribute alone is unique, shown underlined.
    var isUnique = false
  }

  /// An entity.
  struct Box {
    /// The name of the entity.
    var name: String
    /// The class of its objects, if its name differs from the entity's.
    var className: String?
    /// Whether no object has this entity itself.
    var isAbstract: Bool
    /// The attributes, each composite followed by its elements.
    var attributes: [Row] = []
    /// The relationships that the entity declares.
    var relationships: [Row] = []
    /// The fetched properties.
    var fetchedProperties: [Row] = []
  }

  /// The number of objects at an end of a line.
  struct Multiplicity: Hashable {
    /// Whether there may be several objects.
    var isMany: Bool
    /// Whether there must be an object.
    var isRequired: Bool
  }

  /// The end of a line at a box: at a relationship's row, or at the head.
  struct End {
    /// The index of the box.
    var box: Int
    /// The index of the relationship in the box; nil for the head.
    var row: Int?
    /// Nil for inheritance, and for a relationship without an inverse.
    var multiplicity: Multiplicity?
  }

  /// A line: inheritance, from parent to child, or a relationship with its inverse.
  struct Line {
    /// Whether the line means inheritance.
    var isInheritance: Bool
    /// The parent, or the end of the relationship that comes first in the model.
    var from: End
    /// The child, or the other end.
    var to: End
    /// The sentence in the tooltip and for screen readers, as `Person.department ↔
    /// Department.people`.
    var name: String
  }

  /// The title above the picture.
  let title: String
  /// The boxes, in the order of the model's entities.
  private(set) var boxes: [Box]
  /// The lines: inheritance first, then relationships.
  private(set) var lines: [Line] = []

  /// The content of a model.
  init(_ model: ResolvedModel, title: String) {
    self.title = title
    boxes = model.entities.map { Box($0, in: model) }
    for entity in model.entities {
      if let parent = entity.parent { addInheritance(of: entity, from: parent) }
    }
    for entity in model.entities {
      for (row, property) in entity.ownRelationships.enumerated() { add(property, row, of: entity, in: model) }
    }
  }

  /// Adds the line from a parent to a child.
  private mutating func addInheritance(of entity: ResolvedEntity, from parent: EntityIndex) {
    let name = "\(entity.name) inherits from \(boxes[parent].name)"
    lines.append(
      Line(isInheritance: true, from: End(box: parent), to: End(box: entity.index), name: name))
  }

  /// Adds the line of a relationship and its inverse, for the first of both.
  ///
  /// A relationship without an inverse ends at the head of its destination.
  private mutating func add(
    _ property: ResolvedProperty, _ row: Int, of entity: ResolvedEntity, in model: ResolvedModel
  ) {
    guard let relationship = property.relationship else { return }
    let destination = model.destination(of: relationship)
    let here = End(box: entity.index, row: row)
    let name = "\(entity.name).\(property.name)"
    guard let inverse = relationship.inverseSlot.map({ destination.properties[$0] }),
      let place = model.entities[inverse.declaringEntity].ownRelationships.firstIndex(where: { $0 === inverse })
    else {
      let there = End(box: destination.index, multiplicity: Multiplicity(property))
      lines.append(Line(isInheritance: false, from: here, to: there, name: "\(name) → \(destination.name)"))
      return
    }
    let leadsBack = inverse.relationship?.inverseSlot.map { slot in
      inverse.relationship.map { model.destination(of: $0).properties[slot] === property } ?? false
    }
    if leadsBack == true, (inverse.declaringEntity, place) < (entity.index, row) { return }
    var (from, to) = (here, End(box: inverse.declaringEntity, row: place))
    from.multiplicity = Multiplicity(inverse)
    to.multiplicity = Multiplicity(property)
    let other = "\(model.entities[inverse.declaringEntity].name).\(inverse.name)"
    lines.append(
      Line(isInheritance: false, from: from, to: to, name: name == other ? name : "\(name) ↔ \(other)"))
  }
}

extension DiagramContent.Multiplicity {
  /// The multiplicity of a relationship's destination.
  fileprivate init(_ property: ResolvedProperty) {
    self.init(isMany: property.relationship?.isToMany ?? false, isRequired: property.isRequired)
  }
}

extension ResolvedEntity {
  /// The relationships that the entity declares, in slot order.
  fileprivate var ownRelationships: [ResolvedProperty] {
    properties.filter { $0.declaringEntity == index && $0.relationship != nil }
  }
}

extension DiagramContent.Box {
  /// The box of an entity. A class named like the entity is not shown.
  fileprivate init(_ entity: ResolvedEntity, in model: ResolvedModel) {
    let description = entity.description
    let className = description.managedObjectClassName
    let last = className?.split(separator: ".").last.map(String.init)
    self.init(
      name: entity.name, className: last == entity.name || last == "NSManagedObject" ? nil : className,
      isAbstract: entity.isAbstract)
    // Attributes that are unique only in combination are not marked.
    let unique = Set(description.uniquenessConstraints.filter { $0.count == 1 }.joined())
    attributes = description.attributes.flatMap { Self.rows(of: $0, depth: 0, unique: unique) }
    relationships = entity.ownRelationships.compactMap(\.relationship).map(Self.row)
    fetchedProperties = description.fetchedProperties.map { property in
      DiagramContent.Row(name: property.name, type: property.fetchRequest.entityName)
    }
  }

  /// The row of an attribute, followed by rows of its elements.
  private static func rows(
    of attribute: AttributeDescription, depth: Int, unique: Set<String>
  ) -> [DiagramContent.Row] {
    var row = DiagramContent.Row(
      name: attribute.name, type: attribute.type.xcodeName + (attribute.isOptional ? "?" : ""), depth: depth)
    row.isTransient = attribute.isTransient
    row.isDerived = attribute.derivationExpression != nil
    row.isUnique = depth == 0 && unique.contains(attribute.name)
    return [row] + attribute.elements.flatMap { rows(of: $0, depth: depth + 1, unique: unique) }
  }

  /// The row of a relationship.
  private static func row(_ relationship: ResolvedRelationship) -> DiagramContent.Row {
    let description = relationship.description
    var type = description.destinationEntityName
    if relationship.isToMany, let bounds = bounds(of: description) { type += " \(bounds)" }
    if relationship.isToMany, relationship.isOrdered { type += " ordered" }
    return DiagramContent.Row(name: description.name, type: type, isTransient: description.isTransient)
  }

  /// The bounds of a to-many relationship, as `≥ 1`; nil without bounds.
  private static func bounds(of relationship: RelationshipDescription) -> String? {
    switch (relationship.minCount > 0, relationship.maxCount > 1) {
    case (true, true): "\(relationship.minCount)…\(relationship.maxCount)"
    case (true, false): "≥ \(relationship.minCount)"
    case (false, true): "≤ \(relationship.maxCount)"
    case (false, false): nil
    }
  }
}
