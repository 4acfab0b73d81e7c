import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Models of released apps, with features that Core Data's compiler accepted and a new model may not have.
@Suite struct ForeignModelTests {
  private static let contents = """
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Note">
        <attribute name="deleted" optional="YES" attributeType="Boolean" defaultValueString="0.0"/>
        <attribute name="count" optional="YES" attributeType="Integer 64" defaultValueString="NO"/>
        <attribute name="description" optional="YES" attributeType="String"/>
        <attribute name="entity" optional="YES" attributeType="String"/>
        <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author"
          inverseName="face" inverseEntity="Author"/>
        <relationship name="face" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author"
          inverseName="face" inverseEntity="Author"/>
        <relationship name="tags" toMany="YES" deletionRule="Nullify" destinationEntity="Author" inverseName="notes"
          inverseEntity="Author"/>
        <fetchIndex name="byTags"><fetchIndexElement property="tags" type="Binary" order="ascending"/></fetchIndex>
      </entity>
      <entity name="Author">
        <relationship name="face" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Note"
          inverseName="face" inverseEntity="Note"/>
        <relationship name="notes" toMany="YES" deletionRule="Nullify" destinationEntity="Note" inverseName="tags"
          inverseEntity="Note"/>
      </entity>
    </model>
    """

  private static let script = """
    local context = moonbase.context
    if context:fetch("Note"):count() == 0 then
      local note = context:insert("Note", { entity = "e", description = "d" })
      local author = context:insert("Author")
      note.author, note.face = author, author
      assert(context:save())
    end
    local note = context:fetch("Note"):where("description == 'd' AND entity == 'e' AND deleted == NO"):first()
    print(note.deleted, note.count, note.description, note.entity, moonbase.object.entity(note))
    print(note.author == note.face, note.face.face == note, #note.tags)
    """

  @Test func aStoreOfSuchAModelIsMadeAndOpenedByItsOwnCopy() throws {
    let bench = try Workbench()
    try bench.write(Self.contents, to: "contents")
    try bench.write(Self.script, to: "s.lua")
    let expected = "false\t0\td\te\tNote\ntrue\ttrue\t0\n"
    for model in [["--model", "contents"], []] {
      let outcome = try bench.moonbase(["run", "--store", "n.sqlite"] + model + ["s.lua"])
      #expect(outcome.output == expected && outcome.status == 0, "\(outcome.complaints)")
    }
  }

  /// `model check` accepts the output of `model show`.
  @Test func whatIsShownOfItIsTaken() throws {
    let bench = try Workbench()
    try bench.write(Self.contents, to: "contents")
    let checked = try bench.moonbase("model", "check", "contents")
    #expect(checked.output == "contents: 2 entities, 6 warnings\n", "\(checked.complaints)")
    let shown = try bench.moonbase("model", "show", "contents")
    #expect(shown.output.contains("imported = true"))
    try bench.write(shown.output, to: "m.lua")
    let again = try bench.moonbase("model", "check", "m.lua")
    #expect(again.output == "m.lua: 2 entities, 4 warnings\n" && again.status == 0, "\(again.complaints)")
    #expect(try bench.moonbase("model", "diff", "contents", "m.lua").status == 0)
    // In a new model each feature is an error.
    try bench.write(shown.output.replacingOccurrences(of: "imported = true,", with: ""), to: "new.lua")
    let refused = try bench.moonbase("model", "check", "new.lua")
    #expect(refused.status == 1 && refused.complaints.contains("no property may be called description"))
  }
}
