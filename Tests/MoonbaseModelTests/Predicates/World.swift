import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// Five people and two departments for testing predicates.
///
/// | | name | age | height | salary | born | active | nick | department | boss | children |
/// |-|------|-----|--------|--------|------|--------|------|------------|------|----------|
/// | 1 | Ada | 36 | 1.65 | 100.1 | 2001-01-01 | yes | | 1 | | 4 5 |
/// | 2 | Émile | 12 | 1.2 | 0.3 | 1990-05-05 | no | em | 1 | 1 | |
/// | 3 | zoë | | | | | | (empty) | | | 1 |
/// | 4 | Bob | 100 | 1.8 | 50 | 1950-02-03 | yes | Bobby | 2 | 1 | 2 3 |
/// | 5 | ADA | -5 | 0.0 | -1 | 2020-12-31 | no | 50%*\? | 2 | 4 | 5 |
///
/// Department 1 is Sales with a budget of 1000, department 2 has neither name nor budget.
struct World {
  static let shared = World()

  let model: ResolvedModel
  let people: [Row]
  let departments: [Row]

  var person: ResolvedEntity { model.entity("Person")! }

  init() {
    var person = EntityDescription("Person")
    person.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("age", type: .integer16),
      AttributeDescription("height", type: .double), AttributeDescription("salary", type: .decimal),
      AttributeDescription("born", type: .date), AttributeDescription("active", type: .boolean),
      AttributeDescription("nick", type: .string), AttributeDescription("code", type: .uuid),
      AttributeDescription("extra", type: .transformable),
    ]
    person.relationships = [
      .toOne("department", destination: "Department", inverse: "staff"), .toOne("boss", destination: "Person"),
      .toMany("children", destination: "Person").ordered(),
    ]
    var department = EntityDescription("Department")
    department.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("budget", type: .integer64),
    ]
    department.relationships = [.toMany("staff", destination: "Person", inverse: "department")]
    let model = try! ManagedObjectModel(entities: [person, department]).resolved()
    self.model = model
    let people = Self.peopleValues.enumerated().map { Row($1, model.entity("Person")!, key: $0 + 1) }
    let departments = [
      Row(["name": "Sales", "budget": 1000], model.entity("Department")!, key: 11),
      Row([:], model.entity("Department")!, key: 12),
    ]
    self.people = people
    self.departments = departments
    let staff = [0: 0, 1: 0, 3: 1, 4: 1]
    for (index, department) in staff.sorted(by: <) { Row.join(people[index], departments[department]) }
    for (index, boss) in [1: 0, 3: 0, 4: 3] { people[index].link("boss", [people[boss]]) }
    for (index, children) in [0: [3, 4], 2: [0], 3: [1, 2], 4: [4]] {
      people[index].link("children", children.map { people[$0] })
    }
  }

  private static var peopleValues: [[String: Value]] {
    [
      [
        "name": "Ada", "age": 36, "height": 1.65, "salary": decimal("100.1"), "born": date("2001-01-01"),
        "active": true, "code": .uuid(UUID(uuidString: "11111111-2222-3333-4444-555555555555")!),
        "extra": ["colour": "red", "sizes": [1, 2, 3]],
      ],
      [
        "name": "Émile", "age": 12, "height": 1.2, "salary": decimal("0.3"), "born": date("1990-05-05"),
        "active": false,
        "nick": "em",
      ],
      ["name": "zoë", "nick": ""],
      [
        "name": "Bob", "age": 100, "height": 1.8, "salary": decimal("50"), "born": date("1950-02-03"), "active": true,
        "nick": "Bobby",
      ],
      [
        "name": "ADA", "age": -5, "height": 0.0, "salary": decimal("-1"), "born": date("2020-12-31"), "active": false,
        "nick": #"50%*\?"#,
      ],
    ]
  }

  private static func decimal(_ text: String) -> Value { .decimal(Decimal(string: text)!) }
  private static func date(_ text: String) -> Value { .date(ISODate.parse(text)!) }

  /// The numbers of the people that a predicate matches with a fetch's rules, `-` for none.
  func matches(_ predicate: Predicate) throws -> String {
    let checked = try predicate.checked(against: person, in: model)
    let compiled = try CompiledPredicate(checked, entity: person, in: model)
    let found = try people.filter { try compiled.matches($0) }.map { String($0.key) }
    return found.isEmpty ? "-" : found.joined(separator: " ")
  }
}

/// An object of the world.
final class Row: SlottedSubject, KeyPathAnswering {
  typealias Related = Row

  let entity: ResolvedEntity
  let key: Int
  private var values: ContiguousArray<Value>
  private var related: [Int: [Row]] = [:]

  init(_ values: [String: Value], _ entity: ResolvedEntity, key: Int) {
    self.entity = entity
    self.key = key
    self.values = ContiguousArray(entity.properties.map { values[$0.name] ?? .null })
  }

  func link(_ name: String, _ rows: [Row]) {
    let slot = entity.slot(name)!
    related[slot, default: []] += rows
    if case .toOne = entity.properties[slot].kind { values[slot] = rows[0].predicateValue }
  }

  static func join(_ person: Row, _ department: Row) {
    person.link("department", [department])
    department.link("staff", [person])
  }

  var predicateValue: Value {
    .objectID(ManagedObjectID(store: StoreNumber("W"), entity: entity.symbol, key: Int64(key)))
  }

  func predicateValue(slot: Int) -> Value { values[slot] }
  func predicateDestination(slot: Int) -> Row? { related[slot]?.first }
  func predicateDestinations(slot: Int) -> [Row] { related[slot] ?? [] }

  func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Row> {
    guard let slot = entity.slot(key) else { throw ModelError(.evaluation, message: "no key \(key)") }
    switch entity.properties[slot].kind {
    case .attribute: return .value(values[slot])
    case .toOne: return .object(predicateDestination(slot: slot))
    case .toMany: return .objects(predicateDestinations(slot: slot))
    }
  }
}

// The world is made once and is read-only afterwards.
extension World: @unchecked Sendable {}  // no row changes after `init`
