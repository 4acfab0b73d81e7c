package import MoonbaseModel
package import MoonbasePlatform

/// The bitmap of the properties that an update changed: a bit for each in a fixed order, beginning with the highest
/// bit of the first byte.
///
/// The format of the column `ZCOLUMNS` in Core Data's table `ACHANGE`. For example, with the properties `department`,
/// `age` and `name` in this order, an update of `name` has the bitmap `00100000`.
package enum ChangedColumns {
  /// The bitmap of the properties in these slots. The length is that of all properties, rounded up to bytes, also if no
  /// bit is set.
  package static func bitmap(_ slots: Set<Slot>, of layout: EntityLayout) -> Data {
    let ordered = ordered(layout)
    var bytes = Data(count: (ordered.count + 7) / 8)
    for (index, property) in ordered.enumerated() where slots.contains(property.slot) {
      bytes[index / 8] |= 0x80 >> UInt8(index % 8)
    }
    return bytes
  }

  /// The names of the properties whose bits are set, in order. Bits without a property of the current model are
  /// skipped. Sorted by name and without duplicates, since a polymorphic relationship has two bits.
  package static func names(_ bitmap: Data, of layout: EntityLayout) -> [String] {
    let bytes = Array(bitmap)
    let names = ordered(layout).enumerated().compactMap { index, property in
      index / 8 < bytes.count && bytes[index / 8] & 0x80 >> UInt8(index % 8) != 0 ? property.name : nil
    }
    return Set(names).sorted()
  }

  /// Moves the bits of a bitmap to other places. Bits whose place is nil are dropped. Bits after those of all
  /// properties, which frameworks write too, are kept at the end. Used when a migration changes the properties of an
  /// entity. `places` has the new place of each former bit, `count` is the number of new bits.
  package static func moved(_ bitmap: Data, to places: [Int?], count: Int) -> Data {
    let bytes = Array(bitmap)
    var result = Data(count: (count + 7) / 8)
    for index in 0..<bytes.count * 8 where bytes[index / 8] & 0x80 >> UInt8(index % 8) != 0 {
      guard let place = index < places.count ? places[index] : count + index - places.count else { continue }
      while result.count <= place / 8 { result.append(0) }
      result[place / 8] |= 0x80 >> UInt8(place % 8)
    }
    return result
  }

  /// The number of bits.
  package static func count(_ layout: EntityLayout) -> Int { ordered(layout).count }

  /// The properties of the bits, in order: to-one relationships, then a second bit for those with a column for the
  /// destination's entity, then attributes, then to-many relationships. Within a group the order is by the declaring
  /// entity, the topmost first, and by name.
  ///
  /// The changes of a real store confirm this order (`RealHistoryTests`). The order among to-many relationships is not
  /// known.
  package static func ordered(_ layout: EntityLayout) -> [ResolvedProperty] {
    let kept = layout.entity.properties.filter { !$0.isTransient }.sorted {
      ($0.declaringEntity, $0.name) < ($1.declaringEntity, $1.name)
    }
    let toOne = kept.filter { if case .toOne = $0.kind { true } else { false } }
    let polymorphic = toOne.filter { layout.polymorphicSlots.contains($0.slot) }
    let attributes = kept.filter { $0.relationship == nil }
    return toOne + polymorphic + attributes + kept.filter { $0.relationship?.isToMany == true }
  }
}

extension EntityLayout {
  /// The attributes whose values a deletion keeps in the history, in the order of the tombstone columns. Core Data's
  /// `preservesValueInHistoryOnDeletion`. The columns are `ZTOMBSTONE0`, `ZTOMBSTONE1` and so on.
  package var tombstone: [ResolvedProperty] {
    entity.properties.filter { property in
      // A composite has several columns, a tombstone column holds one value. The model's checks report that it is not
      // kept.
      property.attribute.map { $0.preservesValueInHistoryOnDeletion && $0.type != .composite } ?? false
    }.sorted { $0.name < $1.name }
  }

  /// The column of an attribute. Nil for composites, relationships and attributes that the file lacks.
  package func column(_ property: ResolvedProperty) -> String? {
    if case .attribute(let column, _) = slots[property.slot] { column } else { nil }
  }
}
