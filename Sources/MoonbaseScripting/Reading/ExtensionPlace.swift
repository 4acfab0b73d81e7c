/// A place in the table of an extension, with its entity and property, for errors.
struct ExtensionPlace {
  /// The keys down to the place.
  let keys: [String]

  var entity: String? {
    keys.count > 1 && (keys[0] == "entities" || keys[0] == "value_classes") ? keys[1] : nil
  }

  var property: String? {
    let depth = keys.first == "entities" ? 3 : 2
    return entity != nil && keys.count > depth ? keys[depth] : nil
  }
}
