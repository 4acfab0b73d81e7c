import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Imports and jobs over stores with a ledger written by an attacker, and reject files that are links.
@Suite struct HostileLedgerTests {
  private static let precious = "mine and dear\n"

  /// A bench with an import of `p.csv` interrupted after its first row, with additional hostile entries in the ledger.
  private func ended(_ entry: [String: Value]) throws -> Workbench {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nAnn,1\nBob,x\nCy,3\n", to: "p.csv")
    try bench.imports(["Person", "p.csv", "--rejects", "/dev/full", "--batch", "1"], status: 1)
    let url = bench.file("s.sqlite")
    var metadata = try SQLiteStore.metadata(ofStoreAt: url)
    guard case .map(var jobs)? = metadata["MoonbaseJobs"], let job = jobs.first,
      case .map(let noted) = job.value
    else { throw GraphError(.invalidStore, message: "there is no entry") }
    jobs[job.key] = .map(noted.merging(entry) { $1 })
    metadata["MoonbaseJobs"] = .map(jobs)
    try SQLiteStore.setMetadata(metadata, ofStoreAt: url)
    return bench
  }

  private func requireUntouched(_ bench: Workbench, _ name: String = "mine.txt") throws {
    #expect(String(decoding: try bench.bytes(of: name), as: UTF8.self) == Self.precious)
  }

  /// A file with the recorded name or length need not be the reject file.
  @Test(arguments: ["mine.txt", "p.rejects.csv"]) func aFileThatTheLedgerNamesStaysAsItIs(_ name: String) throws {
    let bench = try ended(["rejectLength": .int(4), "rejects": .string("?")])
    let path = bench.file(name).path
    let again = try ended(["rejectLength": .int(4), "rejects": .string(path), "rejectEnd": .string("0123456789abcdef")])
    try again.write(Self.precious, to: "p.rejects.csv")
    try bench.write(Self.precious, to: name)
    let outcome = try again.imports(["Person", "p.csv"], status: 2)
    #expect(outcome.complaints.contains("is there from an earlier import"), "\(outcome)")
    try requireUntouched(again, "p.rejects.csv")
    try again.imports(["Person", "p.csv", "--rejects", "other.csv"], status: 4)
    try requireUntouched(bench, name)
    try requireUntouched(again, "p.rejects.csv")
  }

  @Test func aFileOfTheRightNameIsNotGoneOnWithWhereItIsAnother() throws {
    let first = try ended([:])
    let path = first.file("p.rejects.csv").path
    try first.write(Self.precious, to: "p.rejects.csv")
    var metadata = try SQLiteStore.metadata(ofStoreAt: first.file("s.sqlite"))
    guard case .map(let jobs)? = metadata["MoonbaseJobs"] else { return }
    for length in [0, 4] {
      metadata["MoonbaseJobs"] = .map(
        jobs.mapValues {
          guard case .map(let entry) = $0 else { return $0 }
          return .map(entry.merging(["rejectLength": .int(Int64(length)), "rejects": .string(path)]) { $1 })
        })
      try SQLiteStore.setMetadata(metadata, ofStoreAt: first.file("s.sqlite"))
      let outcome = try first.imports(["Person", "p.csv"], status: 1)
      #expect(
        outcome.complaints.contains(
          length == 0 ? "it has rows of an earlier import" : "is not the file with the rejected"),
        "\(outcome)")
      try requireUntouched(first, "p.rejects.csv")
    }
    try first.imports(["Person", "p.csv", "--restart", "--force"], status: 4)
    #expect(String(decoding: try first.bytes(of: "p.rejects.csv"), as: UTF8.self).hasPrefix("name,age,_line"))
  }

  @Test(arguments: ["mine.txt", "none.txt"]) func aLinkInThePlaceOfTheFileIsNotFollowed(_ target: String) throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nBob,x\n", to: "p.csv")
    try bench.write(Self.precious, to: "mine.txt")
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(atPath: bench.file(name).path, withDestinationPath: target)
    }
    try link("p.rejects.csv", to: target)
    try bench.imports(["Person", "p.csv"], status: 2)
    for more in [[], ["--rejects", "p.rejects.csv"]] {
      let forced = try bench.imports(["Person", "p.csv", "--force"] + more, status: 1)
      #expect(forced.complaints.contains("a link is not followed"), "\(forced)")
    }
    try requireUntouched(bench)
    #expect(try !bench.names().contains("none.txt"))
    // A link to a device that stores nothing is followed.
    try link("nothing.csv", to: "/dev/null")
    try bench.imports(["Person", "p.csv", "--rejects", "nothing.csv", "--restart"], status: 4)
  }

  @Test func aJobWhoseEntryIsDamagedSaysSoAndTheOthersAreTold() throws {
    let bench = try Workbench.withItems(10)
    _ = try bench.batch("run", "j.lua")
    _ = try bench.batch("run", "j.lua", "--name", "k")
    let url = bench.file("s.sqlite")
    var metadata = try SQLiteStore.metadata(ofStoreAt: url)
    guard case .map(var jobs)? = metadata["MoonbaseJobs"], case .map(var entry)? = jobs["j"] else { return }
    entry["chunks"] = .int(.max)
    entry["finished"] = .bool(false)
    jobs["j"] = .map(entry)
    metadata["MoonbaseJobs"] = .map(jobs)
    try SQLiteStore.setMetadata(metadata, ofStoreAt: url)
    let status = try bench.batch("status", status: 1)
    #expect(status.output.contains("k: finished"))
    #expect(status.complaints.contains("noted of the job j is damaged (chunks is 9223372036854775807)"), "\(status)")
    for arguments in [["run", "j.lua"], ["resume", "j.lua"], ["worker", "j.lua"]] {
      let outcome = try bench.moonbase(["batch"] + arguments + ["--store", "s.sqlite"], input: "1\n")
      #expect(
        outcome.status == 1 && outcome.complaints.contains("begin it anew under another name with --name"), "\(outcome)"
      )
    }
  }
}
