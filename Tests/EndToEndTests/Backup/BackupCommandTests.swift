import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct BackupCommandTests {
  @Test func aStoreThatIsInUseIsCopied() throws {
    let bench = try Workbench.withPeople()
    let writer = try bench.begin(
      "run", "--store", "s.sqlite", "-e",
      "moonbase.context:insert('Department', { name = 'New' }) assert(moonbase.context:save()) print('saved') io.read()"
    )
    try writer.wait(for: "saved")
    let backup = try bench.moonbase("backup", "s.sqlite", "copy.sqlite")
    #expect(backup.status == 0 && backup.output == "" && backup.complaints == "", "\(backup)")
    #expect(try bench.moonbase("fetch", "Department", "--store", "copy.sqlite", "--count").output == "2\n")
    writer.kill()
  }

  @Test func whatIsThereIsReplacedOnlyWhenTold() throws {
    let bench = try Workbench.withPeople()
    try bench.write("text", to: "text")
    #expect(try bench.moonbase("backup", "s.sqlite", "copy.sqlite").status == 0)
    let before = try bench.contents()
    for file in ["copy.sqlite", "text", "s.sqlite", "."] {
      let refused = try bench.moonbase("backup", "s.sqlite", file)
      #expect(refused.status == 1 && refused.complaints != "", "\(file): \(refused)")
    }
    #expect(try bench.moonbase("backup", "s.sqlite", "copy.sqlite").complaints.contains("--force"))
    #expect(try bench.moonbase("backup", "s.sqlite", "text", "--force").status == 1)
    #expect(try bench.contents() == before)
    #expect(try bench.moonbase("backup", "s.sqlite", "copy.sqlite", "--force").status == 0)
  }

  @Test func whatIsNoStoreIsRefusedAndNothingIsMade() throws {
    let bench = try Workbench()
    try bench.write("hello", to: "text")
    try bench.write("", to: "empty")
    for file in ["text", "empty", "none", "."] {
      let refused = try bench.moonbase("backup", file, "copy.sqlite")
      #expect(refused.status == 1 && refused.complaints != "", "\(file): \(refused)")
    }
    #expect(try bench.names() == ["empty", "text"])
  }

  @Test func aFolderThatMayNotBeWrittenGetsNoCopy() throws {
    let bench = try Workbench.withPeople()
    try FileManager.default.createDirectory(at: bench.file("closed"), withIntermediateDirectories: false)
    chmod(bench.file("closed").path, 0o500)
    defer { chmod(bench.file("closed").path, 0o700) }
    let outcome = try bench.moonbase("backup", "s.sqlite", "closed/copy.sqlite")
    // The superuser may write anywhere.
    #expect(outcome.status == (getuid() == 0 ? 0 : 1), "\(outcome)")
  }

  /// Paths that the store reserves for its own files, and paths that the copy would reserve.
  @Test(arguments: ["s.sqlite-wal", "s.sqlite-shm", "s.sqlite-journal", ".s_SUPPORT/_EXTERNAL_DATA/x", ".s_SUPPORT/x"])
  func aPlaceOfTheStoreIsNoPlaceForTheCopy(_ target: String) throws {
    let bench = try Workbench.withPeople()
    try FileManager.default.createDirectory(
      at: bench.file(".s_SUPPORT/_EXTERNAL_DATA"), withIntermediateDirectories: true)
    let before = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--format", "csv").output
    for more in [[], ["--force"]] {
      let refused = try bench.moonbase(["backup", "s.sqlite", target] + more)
      #expect(refused.status == 1 && refused.complaints.contains("is a place of the store"), "\(refused)")
    }
    #expect(try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--format", "csv").output == before)
    #expect(access(bench.file(target).path, F_OK) != 0)
    // The reverse case: the store has the path of the copy's log.
    let moved = try bench.program("mv", "s.sqlite", "copy-wal")
    #expect(moved.status == 0)
    let other = try bench.moonbase("backup", "copy-wal", "copy", "--force")
    #expect(other.status == 1 && other.complaints.contains("is a place of the store"), "\(other)")
    #expect(access(bench.file("copy-wal").path, F_OK) == 0)
  }

  @Test func aStoreThatNoCommandReadsGetsNoCopy() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("UPDATE Z_METADATA SET Z_UUID = 'none'", in: "s.sqlite")
    let refused = try bench.moonbase("backup", "s.sqlite", "copy.sqlite")
    #expect(refused.status == 1 && refused.complaints.contains("which is no UUID"), "\(refused)")
    #expect(try !bench.names().contains("copy.sqlite"))
  }
}
