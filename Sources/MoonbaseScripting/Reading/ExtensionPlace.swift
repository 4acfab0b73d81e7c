/// A place in the table of an extension, with its entity and property, for errors.
///
/// For `entities`, `Person`, `validate`, `age` the entity is `Person` and the property `age`.
struct ExtensionPlace {
  /// The keys down to the place.
  let keys: [String]

  /// The second key of `entities` and `value_classes`; nil elsewhere.
  var entity: String? {
    keys.count > 1 && (keys[0] == "entities" || keys[0] == "value_classes") ? keys[1] : nil
  }

  /// The property below an entity: the fourth key of `entities`, the third of `value_classes`.
  var property: String? {
    let depth = keys.first == "entities" ? 3 : 2
    return entity != nil && keys.count > depth ? keys[depth] : nil
  }
}
