import MoonbasePlatform

/// An attribute that an entity has because an extension computes it, and that its model does not know.
package struct AddedAttribute: Sendable {
  /// The name of the entity.
  package var entity: String
  /// The name of the attribute.
  package var name: String
  /// The type of its values; nil where nothing says it.
  package var type: AttributeType?
  /// Where it is declared.
  package var location: SourceLocation?

  /// Says what an extension declares.
  package init(entity: String, name: String, type: AttributeType?, location: SourceLocation? = nil) {
    (self.entity, self.name, self.type, self.location) = (entity, name, type, location)
  }

  /// What is wrong with it where it overrides an attribute of an entity above: it computes that otherwise, and makes no other one of it.
  package func mismatch(overriding type: AttributeType?, of ancestor: String) -> String? {
    guard let own = self.type, let type, own != type else { return nil }
    return
      "\(entity).\(name) is \(own.phrase), and \(ancestor).\(name), which it overrides, is \(type.phrase): give both one type"
  }

  /// The attribute as one of a model: a transient one.
  package var description: AttributeDescription {
    var description = AttributeDescription(name, type: type ?? .undefined)
    description.isTransient = true
    description.location = location
    return description
  }
}

/// The slots of attributes that extensions add to the entities of one family (a root entity and all below it), and never take back.
///
/// They lie above the slots of all rows of the family, and belong to names: whatever comes and goes, an attribute of a name has the
/// same slot in all entities of the family, in all contexts and in each generation of extensions.
final class AddedSlots: Sendable {
  private struct Names {
    /// The first slot that no row has.
    var first = 0
    var names: [String] = []
    var slots: [ExactText: Slot] = [:]
    /// Which entities had an attribute of a slot, and where that was declared last.
    var declarations: [Slot: [(subtree: Range<EntityIndex>, location: SourceLocation?)]] = [:]
  }

  private let known = Lock(Names())

  /// The slot of a name. `first` is the number of slots of the longest row.
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

  /// The name of a slot that was given out; nil for others.
  func name(of slot: Slot) -> String? {
    known.withLock { known in
      let index = slot - known.first
      return known.names.indices.contains(index) ? known.names[index] : nil
    }
  }

  /// Whether an entity has had an attribute of a name, and where that was declared last.
  func declaration(of name: String, in entity: EntityIndex) -> (wasThere: Bool, location: SourceLocation?) {
    known.withLock { known in
      guard let slot = known.slots[ExactText(name)],
        let last = known.declarations[slot]?.last(where: { $0.subtree.contains(entity) })
      else { return (false, nil) }
      return (true, last.location)
    }
  }
}
