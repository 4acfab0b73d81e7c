import MoonbaseModel
import MoonbasePlatform
import Testing

@testable import MoonbaseModelFormats

/// Mapping models written for features that the real ones do not have.
@Suite struct MappingModelFileTests {
  private func read(_ objects: String) throws -> MappingModel {
    let text =
      "<?xml version=\"1.0\"?>\n<database><databaseInfo><version>134481920</version></databaseInfo>\n\(objects)\n</database>"
    return try MappingModel(ModelSource(Data(text.utf8), name: "xcmapping.xml"))
  }

  private let root = """
    <object type="XDDEVMAPPINGMODEL" id="z1"><relationship name="entitymappings" type="0/0" idrefs="z2"/></object>
    """
  private func entity(_ fields: String) -> String {
    "\(root)\n<object type=\"XDDEVENTITYMAPPING\" id=\"z2\">\(fields)</object>"
  }
  private let names = """
    <attribute name="sourcename" type="string">A</attribute><attribute name="destinationname" type="string">B</attribute>
    """

  @Test func namesKindsAndExpressionsInTextAreRead() throws {
    let model = try read(
      entity(
        names
          + """
          <attribute name="name" type="string">AToB custom</attribute>
          <attribute name="mappingtypename" type="string">Transform</attribute>
          <attribute name="mappingnumber" type="int16">7</attribute>
          <relationship name="attributemappings" type="0/0" idrefs="z3 z4 z5"/>
          """)
          + """
          <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">x</attribute>
          <attribute name="valueexpression" type="string">$source.y</attribute></object>
          <object type="XDDEVATTRIBUTEMAPPING" id="z4"><attribute name="name" type="string">z</attribute>
          <attribute name="valueexpression" type="string">uppercase:($source.y)</attribute></object>
          <object type="XDDEVATTRIBUTEMAPPING" id="z5"><attribute name="name" type="string">w</attribute></object>
          """)
    #expect(model.warnings == [])
    let mapping = try #require(model.entityMapping(named: "AToB custom"))
    #expect(mapping.kind == .transform)
    #expect(
      mapping.attributeMappings == [
        PropertyMapping("w", from: .automatic), PropertyMapping("x", from: .property("y")),
        PropertyMapping("z", from: .expression(.function("uppercase:", [.keyPath(.variable("source"), ["y"])]))),
      ])
  }

  @Test func whatIsNotUnderstoodIsReported() throws {
    let model = try read(entity(names + "<attribute name=\"speed\">9</attribute>") + "<gadget/>")
    #expect(
      model.warnings == [
        "xcmapping.xml:4: <gadget> is not understood",
        "xcmapping.xml:4: speed of XDDEVENTITYMAPPING is not understood",
      ])
    // The feature is not supported; ignoring it would be wrong.
    #expect(model.obstacles == ["xcmapping.xml:4: speed of XDDEVENTITYMAPPING is 9"])
  }

  /// Features in files of released apps: left-overs, empty fields, and Xcode's Key Path and Mapping Name.
  @Test func whatXcodeLeavesInAFileIsRead() throws {
    func field(_ name: String, _ text: String) -> String { "<attribute name=\"\(name)\">\(text)</attribute>" }
    func relationship(_ id: String, _ fields: String) -> String {
      "<object type=\"XDDEVRELATIONSHIPMAPPING\" id=\"\(id)\">\(field("name", "r\(id)"))\(fields)</object>"
    }
    let left = try read(entity(field("mappingtypename", "Undefined") + field("sourcename", "")))
    #expect(
      left.entityMappings == []
        && left.warnings
          == ["xcmapping.xml:4: an entity mapping without source and destination is left out: it maps nothing"]
    )
    let model = try read(
      entity(
        names + field("migrationpolicyclassname", "")
          + "<relationship name=\"relationshipmappings\" idrefs=\"z3 z4 z5 z6\"/>")
        + relationship("z3", field("sourcekeypath", "home.rooms") + field("sourcemappingname", "RoomToRoom"))
        + relationship("z4", field("sourcemappingname", "RoomToRoom") + field("sourcekeypath", ""))
        + relationship("z5", field("sourcekeypath", "$source.home.rooms"))
        + relationship("z6", field("sourcekeypath", "") + field("sourcemappingname", "")))
    #expect(model.warnings == [] && model.obstacles == [])
    let mapping = try #require(model.entityMappings.first)
    #expect(mapping.migrationPolicyClassName == nil && mapping.kind == .transform)
    func ask(_ function: String, _ name: String, _ path: [String]) -> PropertyMapping.Source {
      .expression(
        .function(function, [.variable("manager"), .constant(.string(name)), .keyPath(.variable("source"), path)]))
    }
    #expect(
      mapping.relationshipMappings.map(\.source) == [
        ask(EntityMapping.destinationsOfMapping, "RoomToRoom", ["home", "rooms"]),
        ask(EntityMapping.destinationsOfMapping, "RoomToRoom", ["rz4"]),
        ask(EntityMapping.destinationsOfRelationship, "rz5", ["home", "rooms"]), .automatic,
      ])
  }

  @Test(arguments: [
    ("<object type=\"X\" id=\"z9\"/>", "xcmapping.xml: the file holds no mapping model"),
    ("<object type=\"X\"/>", "xcmapping.xml:3: an object has no type or no ID"),
    (
      "<object type=\"X\" id=\"z9\"/>\n<object type=\"X\" id=\"z9\"/>",
      "xcmapping.xml:4: the ID z9 is that of an object in line 3 too"
    ),
    (
      "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"/>\n<object type=\"XDDEVMAPPINGMODEL\" id=\"z2\"/>",
      "xcmapping.xml:4: the file holds a second mapping model: remove one"
    ),
    (
      "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"><relationship name=\"entitymappings\" idrefs=\"z2\"/></object>",
      "xcmapping.xml:3: entitymappings names z2, which is not there"
    ),
    (
      "<object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"><relationship name=\"entitymappings\" idrefs=\"z1\"/></object>",
      "xcmapping.xml:3: entitymappings names z1, which is XDDEVMAPPINGMODEL and not XDDEVENTITYMAPPING"
    ),
  ])
  func damagedFilesAreRefused(objects: String, expected: String) {
    let error = #expect(throws: ModelError.self) { try read(objects) }
    #expect(error?.description == expected)
  }

  @Test(arguments: [
    (
      "<attribute name=\"sourcename\">A</attribute><attribute name=\"mappingnumber\">first</attribute>",
      "mappingnumber is an integer, not first"
    ),
    (
      "<attribute name=\"sourcename\">A</attribute><attribute name=\"mappingtypename\">Twist</attribute>",
      "there is no kind of mapping twist"
    ),
  ])
  func damagedEntityMappingsAreRefused(fields: String, expected: String) {
    let error = #expect(throws: ModelError.self) { try read(entity(fields)) }
    #expect(error?.description == "xcmapping.xml:4: \(expected)")
  }

  @Test(arguments: [
    ("<attribute name=\"valueexpressiondata\">%%%</attribute>", "the value expression of x is no base 64"),
    ("<attribute name=\"valueexpression\">1 +</attribute>", "the value expression of x: column 4"),
    ("<attribute name=\"valueexpressiondata\">AAAA</attribute>", "the value expression of x: "),
  ])
  func damagedValueExpressionsAreRefused(field: String, expected: String) {
    let objects =
      entity(names + "<relationship name=\"attributemappings\" idrefs=\"z3\"/>")
      + "<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z3\"><attribute name=\"name\">x</attribute>\(field)</object>"
    let error = #expect(throws: ModelError.self) { try read(objects) }
    #expect(error?.description.hasPrefix("xcmapping.xml:4: \(expected)") == true, "\(error as Any)")
  }
}
