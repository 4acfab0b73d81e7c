import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct CodingTests {
  struct Person: Codable, Equatable {
    struct Pet: Codable, Equatable {
      var name: String
      var weight: Double?
    }
    enum Kind: String, Codable { case friend, foe }
    var name: String
    var big: Int64
    var small: UInt8
    var kind: Kind
    var born: Date
    var bytes: Data
    var id: UUID
    var price: Decimal
    var link: URL
    var pets: [Pet]
    var none: [Pet]
    var notes: [String: [Int]]
    var missing: String?
  }

  let person = Person(
    name: "Scarlet", big: .max, small: 200, kind: .foe, born: Date(timeIntervalSinceReferenceDate: 1.5),
    bytes: Data([0, 255, 1]), id: UUID(), price: Decimal(string: "12.340000000000000001")!,
    link: URL(string: "https://a.b/c?d")!, pets: [.init(name: "Rex", weight: 1.5), .init(name: "Tom", weight: nil)],
    none: [], notes: ["a": [1, 2], "b": []], missing: nil)

  @Test func codableTypesCrossBothWays() throws {
    let state = try LuaState()
    let identity = try state.load("return ...", name: "t")
    let back = try state.decode(Person.self, from: identity.first(state.encode(person)))
    #expect(back == person)
  }

  struct Sparse: Codable, Equatable {
    struct Inner: Codable, Equatable { var name: String }
    var numbers: [Int?]
    var flags: [String: Bool?]
    var inner: [Inner?]
    var data: [Data?]
    var nested: [[Double?]?]
  }

  @Test func optionalValuesKeepTheirPlaceInListsAndMaps() throws {
    let state = try LuaState()
    let sparse = Sparse(
      numbers: [1, nil, 3], flags: ["a": true, "b": nil] as [String: Bool?], inner: [.init(name: "x"), nil],
      data: [Data([255]), nil],
      nested: [[1, nil], nil, []])
    let identity = try state.load("return ...", name: "t")
    #expect(try state.decode(Sparse.self, from: identity.first(state.encode(sparse))) == sparse)
    #expect(try state.decode([Int?].self, from: state.encode([1, nil, 3])) == [1, nil, 3])
    #expect(try state.decode(Int?.self, from: .integer(3)) == 3)
    #expect(try state.decode(Int?.self, from: .null) == nil)
    #expect(try state.decode([String: Int?].self, from: state.load("return { a = 1 }", name: "t").first()) == ["a": 1])
    #expect(throws: LuaError.self) { try state.decode([Int?].self, from: state.encode(["x"])) }
  }

  @Test func longPathsAreShortened() throws {
    let state = try LuaState()
    let deep = "local t = {} local r = t for i = 1, 100 do t.aaaa = {} t = t.aaaa end return r"
    let error = try #require(throws: LuaError.self) { try state.tree(of: state.load(deep, name: "t").first()) }
    #expect(error.message == "aaaa.aaaa.aaaa.aaaa … aaaa.aaaa.aaaa: tables nest too deeply")
  }

  @Test func scriptsSeeExactIntegersAndBytes() throws {
    let state = try LuaState()
    let results = try state.load("local p = ... return p.big == math.maxinteger, #p.bytes, p.pets[2].name", name: "t")(
      state.encode(person))
    #expect(results[0].booleanValue == true)
    #expect(results[1].integerValue == 3)
    #expect(results[2].textValue == "Tom")
  }

  @Test func hostileTablesAreRefused() throws {
    let state = try LuaState()
    for (code, message) in [
      ("local t = {} t.a = { b = t } return t", "a.b: a table contains itself"),
      ("local t = {} for i = 1, 100 do t = { t } end return t", "nest too deeply"),
      ("return { a = { print } }", "a.1: a function does not convert"),
      ("return { [{}] = 1 }", "a key is a table"), ("return { [1.5] = 1 }", "a key is a number"),
    ] {
      let value = try state.load(code, name: "t").first()
      let error = try #require(throws: LuaError.self) { try state.tree(of: value) }
      #expect(error.kind == .conversion)
      #expect(error.message.contains(message), "\(error)")
    }
  }

  @Test func listsAndMapsAreToldApart() throws {
    let state = try LuaState()
    let tree = try state.tree(
      of: state.load("return { l = { 3, 2 }, m = { a = 1 }, e = {}, s = { [1] = 1, [3] = 3 } }", name: "t").first())
    #expect(tree["l"] == .list([.integer(3), .integer(2)]))
    #expect(tree["e"] == .map([:]))
    #expect(tree["s"] == .map(["1": .integer(1), "3": .integer(3)]))
    let value = try state.value(of: .list([]))
    #expect(try state.tree(of: value) == .list([]))
    #expect(try state.tree(of: state.value(of: tree)) == tree)
  }

  @Test func numbersThatDoNotFitAreErrors() throws {
    let state = try LuaState()
    #expect(throws: LuaError.self) { try state.encode(UInt64.max) }
    #expect(throws: LuaError.self) { try state.decode(Int8.self, from: 300) }
    #expect(throws: LuaError.self) { try state.decode(Int.self, from: 1.5) }
    #expect(try state.decode(Int.self, from: 2.0) == 2)
    let error = try #require(throws: LuaError.self) {
      try state.decode([String: [Int]].self, from: state.load("return { a = { 1, 'x' } }", name: "t").first())
    }
    #expect(error.message == "a.2: integer expected, got string")
  }

  @Test func nullIsNotNil() throws {
    let state = try LuaState()
    let value = try state.encode(["a": Optional(1), "b": nil] as [String: Int?])
    let seen = try state.load("local t = ... return t.a, t.b == nil, type(t.b), #t", name: "t")(value)
    #expect(seen[0].integerValue == 1)
    let back = try state.decode([Int?].self, from: state.encode([1, nil, 3] as [Int?]))
    #expect(back == [1, nil, 3])
    let list = try state.value(of: .list([.integer(1), .null, .integer(3)]))
    let length = try state.load("local t = ... return #t, t[2] == nil, t[2]", name: "t")(list)
    #expect(length[0].integerValue == 3)
    #expect(length[1].booleanValue == false)
    guard case .null = length[2] else { throw LuaError(.runtime, message: "null came back as \(length[2])") }
    #expect(try state.tree(of: list) == .list([.integer(1), .null, .integer(3)]))
  }

  /// The conversion does not recurse on the C stack: depth has its own limit, also for trees made in Swift.
  @Test func deepValuesAreErrors() throws {
    let state = try LuaState()
    var tree = LuaTree.integer(1)
    for _ in 0..<1000 { tree = .list([tree]) }
    let deep = tree
    let made = try state.value(of: deep)
    let error = try #require(throws: LuaError.self) { try state.tree(of: made) }
    #expect(error.kind == .conversion)
    let code = "local t = {} local top = t for i = 1, 100000 do t[1] = {} t = t[1] end return top"
    let value = try state.load(code, name: "t").first()
    #expect(throws: LuaError.self) { try state.decode([Int].self, from: value) }
  }
}
