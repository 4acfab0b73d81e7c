import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Fetched properties in scripts.
@Suite struct FetchedPropertyTests {
  private static let model = """
    return { entities = { Person = {
      attributes = { name = "string", age = "integer16" },
      fetched_properties = {
        peers = { "Person", "age == $FETCH_SOURCE.age AND SELF != $FETCH_SOURCE", sort = "name" },
        elders = { "Person", "age >= $FETCHED_PROPERTY.userInfo.age", user_info = { age = 60 } } },
    } } }
    """

  @Test(arguments: StoreKind.allCases) func aFetchedPropertyReadsAsAListOfObjects(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind, model: Self.model, extensions: []).lines(
      """
      local ada = context:insert("Person", { name = "Ada", age = 36 })
      local bob = context:insert("Person", { name = "Bob", age = 36 })
      local cyd = context:insert("Person", { name = "Cyd", age = 70 })
      assert(context:save())
      print(#ada.peers, ada.peers[1] == bob, #cyd.peers, bob.elders[1] == cyd)
      cyd.age = 36
      print(#ada.peers, ada.peers[2].name, #ada.elders)
      local function fails(f) print((tostring(select(2, pcall(f))):gsub("^[^ ]*:%d+: ", ""))) end
      fails(function() ada.peers = {} end)
      fails(function() context:insert("Person", { name = "x", peers = {} }) end)
      fails(function() context:upsert("Person", { "name" }, { name = "x", peers = {} }) end)
      fails(function() return ada.pers end)
      """, leavingChanges: true)
    let refusal =
      "Person.peers: is a fetched property, whose value is what its fetch finds: it is read and not assigned"
    #expect(
      lines == [
        "1\ttrue\t0\ttrue", "2\tCyd\t0", refusal, refusal, refusal, "Person has no property pers; did you mean peers?",
      ])
  }
}
