import MoonbaseModel
import Testing

@testable import MoonbaseFetchedResults
@testable import MoonbaseGraph

/// Compares an incrementally updated list with one rebuilt from all objects.
@Suite struct ResultListTests {
  private struct Row {
    let id = ManagedObjectID(temporaryFor: Symbol("Thing"))
    let name: String
  }

  private func list(_ rows: [Row], after former: ResultList = ResultList()) throws -> ResultList {
    try ResultList(rows.map(\.id), names: rows.map(\.name), after: former)
  }

  private func sections(_ list: ResultList) -> [String] {
    list.sections.map { "\($0.name) at \($0.start): \($0.count)" }
  }

  /// A controller fetches again where the list cannot apply a change, so its own tests would not notice a mistake here.
  @Test(arguments: ["aaabbb", "abcdef", "aabbcc", "abbbbc"])
  func whateverComesTogetherStandsInTheSectionsOfItsNames(_ names: String) throws {
    let rows = names.map { Row(name: String($0)) }
    for mask in 0..<(1 << rows.count) {
      let isThere = rows.indices.map { mask & (1 << $0) != 0 }
      let old = try list(rows.indices.filter { isThere[$0] }.map { rows[$0] })
      var changed = old
      for place in rows.indices where !isThere[place] { changed.insert(rows[place].id, at: place) }
      try changed.assign(
        rows.indices.filter { !isThere[$0] }.map {
          ResultList.Arrival(id: rows[$0].id, place: $0, name: rows[$0].name)
        })
      let new = try list(rows, after: old)
      #expect(Array(changed.ids) == Array(new.ids) && sections(changed) == sections(new), "\(names), \(mask)")
      for section in changed.sections {
        let former = old.sections.first { $0.name == section.name }
        #expect(former == nil || former?.number == section.number, "\(names), \(mask): \(section.name)")
      }
    }
  }

  @Test func aNameThatComesInTheMiddleOfAnotherSectionIsOutOfOrder() throws {
    let rows = ["a", "a", "b"].map { Row(name: $0) }
    var changed = try list(rows)
    let new = Row(name: "b")
    changed.insert(new.id, at: 1)
    #expect(throws: ResultList.NameOutOfOrder.self) {
      try changed.assign([ResultList.Arrival(id: new.id, place: 1, name: new.name)])
    }
  }
}
