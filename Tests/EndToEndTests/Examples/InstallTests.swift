import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `scripts/install` installs and removes the command.
@Suite struct InstallTests {
  private let bench: Workbench

  /// Installs a script in place of the command, since a test build is large and slow to print completions and the
  /// manual.
  init() throws {
    bench = try Workbench()
    try bench.write(
      "#!/bin/sh\ncase $1 in --version) exec '\(Workbench.command.path)' \"$@\" ;; *) echo \"# $*\" ;; esac\n",
      to: "command")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bench.file("command").path)
  }

  private func install(_ arguments: String...) throws -> Workbench.Outcome {
    let script = Workbench.checkout.appendingPathComponent("scripts/install").path
    return try bench.program("sh", [script, "--binary", bench.file("command").path] + arguments)
  }

  /// The paths of all files and folders below a folder.
  private func paths(below name: String) -> [String] {
    (FileManager.default.enumerator(atPath: bench.file(name).path)?.compactMap { $0 as? String } ?? []).sorted()
  }

  @Test func whatIsInstalledIsTakenAwayAgain() throws {
    for _ in 0..<2 {
      let run = try install("a place")
      #expect(run.status == 0 && run.complaints == "", "\(run.complaints)")
    }
    let there = paths(below: "a place")
    for path in [
      "bin/moonbase", "share/bash-completion/completions/moonbase", "share/zsh/site-functions/_moonbase",
      "share/fish/vendor_completions.d/moonbase.fish", "share/man/man1/moonbase.1", "share/moonbase/types/object.lua",
      "share/doc/moonbase/README.md", "share/moonbase/manifest",
    ] { #expect(there.contains(path), "\(path)") }
    #expect(!there.contains { $0.contains(".moonbase.") })
    let version = try bench.program(bench.file("a place/bin/moonbase").path, "--version")
    #expect(try version.output == bench.moonbase("--version").output && version.status == 0)
    let completions = "a place/share/bash-completion/completions/moonbase"
    #expect(try bench.bytes(of: completions) == Data("# completions bash\n".utf8))
    #expect(try install("--uninstall", "a place").status == 0)
    #expect(paths(below: "a place") == [])
  }

  @Test func filesOfOthersStay() throws {
    let types = "place/share/moonbase/types"
    try FileManager.default.createDirectory(at: bench.file("place/bin"), withIntermediateDirectories: true)
    try bench.write("mine", to: "place/bin/moonbase")
    let refused = try install("place")
    #expect(refused.status == 1 && refused.complaints.contains("place/bin/moonbase is there and was not put there"))
    #expect(paths(below: "place") == ["bin", "bin/moonbase"])
    try FileManager.default.removeItem(at: bench.file("place/bin/moonbase"))
    #expect(try install("place").status == 0)
    try bench.write("changed", to: "\(types)/object.lua")
    try bench.write("mine", to: "\(types)/mine.lua")
    let removed = try install("--uninstall", "place")
    #expect(removed.status == 0 && removed.complaints.contains("object.lua was changed since and stays"))
    #expect(
      paths(below: "place")
        == ["bin", "share", "share/moonbase", "share/moonbase/types"]
        + ["share/moonbase/types/mine.lua", "share/moonbase/types/object.lua"])
    let again = try install("--uninstall", "place")
    #expect(again.status == 1 && again.complaints.contains("nothing was put below"))
  }

  @Test func filesThatWereChangedStayWhereItIsInstalledAgain() throws {
    let file = "place/share/moonbase/types/object.lua"
    #expect(try install("place").status == 0)
    try bench.write("changed", to: file)
    for _ in 0..<2 {
      let again = try install("place")
      #expect(again.status == 0 && again.complaints.contains("object.lua was changed since and stays"), "\(again)")
      #expect(again.complaints.split(separator: "\n").count == 1)
      #expect(try bench.bytes(of: file) == Data("changed".utf8))
    }
    #expect(try install("--uninstall", "place").complaints.contains("object.lua was changed since and stays"))
    let refused = try install("place")
    #expect(refused.status == 1 && refused.complaints.contains("not put there by this script, or was changed since"))
    #expect(try bench.bytes(of: file) == Data("changed".utf8))
  }

  @Test func aSignalLeavesNothingBehind() throws {
    try FileManager.default.createDirectory(at: bench.file("temporary"), withIntermediateDirectories: true)
    try bench.write("#!/bin/sh\nkill -TERM $PPID\n", to: "command")
    let script = Workbench.checkout.appendingPathComponent("scripts/install").path
    let run = try bench.program(
      "env",
      ["TMPDIR=\(bench.file("temporary").path)", "sh", script, "--binary", bench.file("command").path, "place"])
    #expect(run.status != 0)
    #expect(paths(below: "temporary") == [] && paths(below: "place") == [])
  }

  @Test func othersMayReadWhatIsInstalledWhateverTheMaskIs() throws {
    let script = Workbench.checkout.appendingPathComponent("scripts/install").path
    let run = try bench.program(
      "sh",
      ["-c", "umask 077; exec sh \"$0\" \"$@\"", script, "--binary", bench.file("command").path, "place"])
    #expect(run.status == 0)
    for path in ["place", "place/bin/moonbase", "place/share/moonbase", "place/share/moonbase/types/object.lua"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: bench.file(path).path)
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
      #expect(mode & 0o044 == 0o044, "\(path)")
    }
  }

  @Test func wrongUsageIsSaid() throws {
    #expect(try install("--nonsense").status == 2)
    #expect(try install("one", "two").status == 2)
    let empty = try install("")
    #expect(empty.status == 2 && empty.complaints.contains("PREFIX is empty"))
    try bench.write("", to: "file")
    let refused = try install("file/below")
    #expect(refused.status == 1 && refused.complaints.contains("cannot write to"))
  }
}
