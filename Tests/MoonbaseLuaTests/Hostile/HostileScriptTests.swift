import MoonbaseLua
import MoonbasePlatform
import Testing

/// Runs every script below `Attacks/` in every preset with protection against it, each in its own process. A crash ends
/// that process with a signal, a hang with SIGALRM.
@Suite(.enabled(if: !Instrument.isThreadSanitizer, "the thread sanitizer does not follow forks"))
struct HostileScriptTests {
  struct Outcome {
    let script: HostileScript
    let code: String
    let gained: Int
    let aftermath: String
    let message: String
    let status: String
  }

  @Test func thereAreManyAttacks() {
    #expect(HostileScript.all.count >= 200)
    #expect(HostileScript.all.allSatisfy { !$0.endings.isEmpty })
  }

  @Test(arguments: LuaPreset.allCases) func countedAttacksEndAsDocumented(_ preset: LuaPreset) throws {
    let scripts = HostileScript.all.filter { $0.applies(to: preset) }
    for outcome in try run(scripts, in: preset, limits: []) {
      check(outcome, endings: outcome.script.endings)
    }
  }

  /// With a deadline and no limit on instructions, only the signal ends a script.
  @Test(arguments: [LuaPreset.standard, .trusted]) func timedAttacksEndAsDocumented(_ preset: LuaPreset) throws {
    let scripts = HostileScript.all.filter { $0.isTimed && $0.applies(to: preset) }
    for outcome in try run(scripts, in: preset, limits: ["instructions=0", "deadline=0.02"]) {
      check(outcome, endings: outcome.script.endings.map { $0.replacing("limit.instructions", with: "limit.deadline") })
    }
  }

  private func check(_ outcome: Outcome, endings: [String]) {
    let name = outcome.script.path.dropFirst(HostileScript.folder.path.count + 1)
    let text = "\(name): \(outcome.code) \(outcome.message) (status \(outcome.status), \(outcome.gained) KiB)"
    #expect(outcome.status == "0", "\(text)")
    #expect(endings.contains(outcome.code), "\(text)")
    #expect(outcome.script.says.isEmpty || outcome.message.contains(outcome.script.says), "\(text)")
    #expect(outcome.aftermath == "good", "\(text): \(outcome.aftermath)")
    #expect(Instrument.isAny || outcome.gained < outcome.script.memoryCap + 1024, "\(text)")
  }

  private func run(_ scripts: [HostileScript], in preset: LuaPreset, limits: [String]) throws -> [Outcome] {
    let lines = scripts.map { ([$0.path] + $0.limits + limits).joined(separator: "\t") }
    let answers = try HostileRunner.ask([preset.rawValue], lines)
    try #require(answers.count == scripts.count, "the runner itself ended after \(answers.count) scripts")
    return zip(scripts, answers).map { script, answer in
      let parts = answer.components(separatedBy: "\t")
      guard parts.count == 5 else {
        return Outcome(script: script, code: "none", gained: 0, aftermath: "none", message: answer, status: answer)
      }
      return Outcome(
        script: script, code: parts[0], gained: Int(parts[1]) ?? 0, aftermath: parts[2], message: parts[3],
        status: parts[4])
    }
  }
}
