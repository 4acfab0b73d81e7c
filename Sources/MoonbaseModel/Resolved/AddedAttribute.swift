import MoonbasePlatform

/// An attribute that an extension computes and that the model does not declare.
package struct AddedAttribute: Sendable {
  /// The name of the entity.
  package var entity: String
  /// The name of the attribute.
  package var name: String
  /// The type of the values; nil if undeclared.
  package var type: AttributeType?
  /// The place of the declaration.
  package var location: SourceLocation?

  /// An attribute declared by an extension.
  package init(entity: String, name: String, type: AttributeType?, location: SourceLocation? = nil) {
    (self.entity, self.name, self.type, self.location) = (entity, name, type, location)
  }

  /// The reason why the attribute cannot override an inherited attribute; nil if it can. An override computes the value
  /// differently but must keep the type.
  package func mismatch(overriding type: AttributeType?, of ancestor: String) -> String? {
    guard let own = self.type, let type, own != type else { return nil }
    return
      "\(entity).\(name) is \(own.phrase), and \(ancestor).\(name), which it overrides, is \(type.phrase): give both one type"
  }

  /// The attribute as a transient attribute of a model.
  package var description: AttributeDescription {
    var description = AttributeDescription(name, type: type ?? .undefined)
    description.isTransient = true
    description.location = location
    return description
  }
}

/// The slots of attributes that extensions add to the entities of a family (a root entity and its descendants). Slots
/// are never reused.
///
/// The slots lie above those of all rows of the family and belong to names. An attribute name keeps its slot in all
/// entities of the family, in all contexts and in every generation of extensions.
final class AddedSlots: Sendable {
  /// The names and slots of a family.
  private struct Names {
    /// The first slot above those of rows.
    var first = 0
    /// The names in the order of their slots.
    var names: [String] = []
    /// The slots by name.
    var slots: [ExactText: Slot] = [:]
    /// The entities that had an attribute in a slot, with the place of the last declaration.
    var declarations: [Slot: [(subtree: Range<EntityIndex>, location: SourceLocation?)]] = [:]
  }

  /// The names, which contexts on any thread share.
  private let known = Lock(Names())

  /// The slot of a name. `first` is the number of slots in the family's longest row.
  ///
  /// The slot is assigned when the name is first used, and the declaration is recorded.
  func slot(of name: String, in entity: ResolvedEntity, at location: SourceLocation?, first: Int) -> Slot {
    known.withLock { known in
      known.first = first
      let slot = known.slots[ExactText(name)] ?? first + known.names.count
      if known.slots.updateValue(slot, forKey: ExactText(name)) == nil { known.names.append(name) }
      known.declarations[slot, default: []].removeAll { $0.subtree == entity.subtree }
      known.declarations[slot, default: []].append((entity.subtree, location))
      return slot
    }
  }

  /// The name of an assigned slot; nil for other slots.
  func name(of slot: Slot) -> String? {
    known.withLock { known in
      let index = slot - known.first
      return known.names.indices.contains(index) ? known.names[index] : nil
    }
  }

  /// Whether an entity ever had an added attribute with this name, and the place of its last declaration.
  func declaration(of name: String, in entity: EntityIndex) -> (wasThere: Bool, location: SourceLocation?) {
    known.withLock { known in
      guard let slot = known.slots[ExactText(name)],
        let last = known.declarations[slot]?.last(where: { $0.subtree.contains(entity) })
      else { return (false, nil) }
      return (true, last.location)
    }
  }
}
