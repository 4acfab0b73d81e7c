import MoonbaseModel

/// A model with composites: people with an address, which contains a place.
enum Addresses {
  static let place = AttributeDescription("place", type: .composite).with {
    $0.elements = [
      AttributeDescription("latitude", type: .double), AttributeDescription("longitude", type: .double),
      AttributeDescription("height", type: .float),
    ]
  }

  static let address = AttributeDescription("address", type: .composite).with {
    $0.elements = [
      AttributeDescription("street", type: .string), AttributeDescription("city", type: .string),
      AttributeDescription("number", type: .integer16), AttributeDescription("since", type: .date),
      AttributeDescription("rent", type: .decimal), AttributeDescription("owned", type: .boolean),
      AttributeDescription("key", type: .uuid), AttributeDescription("page", type: .uri),
      AttributeDescription("photo", type: .binaryData), place,
    ]
  }

  static func model(_ change: (inout EntityDescription) -> Void = { _ in }) -> ManagedObjectModel {
    var person = EntityDescription("Person") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("boss", destination: "Person", inverse: "staff")
      RelationshipDescription.toMany("staff", destination: "Person", inverse: "boss")
    }
    person.attributes.append(address)
    change(&person)
    return ManagedObjectModel(entities: [person])
  }
}
