import MoonbasePlatform
import Testing

/// Signals in processes of their own, since they are the whole process's.
@Suite(.enabled(if: !Instrument.isThreadSanitizer, "the thread sanitizer does not follow forks"))
struct SignalTests {
  /// What each case said, and its exit status or minus the signal that ended it.
  private static let outcomes: [String: [String]] = {
    let lines = (try? HostileRunner.ask(["signals"], [])) ?? []
    return lines.reduce(into: [:]) { all, line in
      let parts = line.components(separatedBy: "\t")
      all[parts[0]] = Array(parts.dropFirst())
    }
  }()

  /// Ours and those that the watchdog sends all come to it; two that the host sends itself are counted.
  @Test(arguments: ["handlerBefore", "handlerAfter", "handlerThatChains"])
  func aHandlerOfTheHostIsCalledAndDeadlinesHold(_ name: String) {
    #expect(Self.outcomes[name] == ["lua.limit.deadline 2", "0"])
  }

  @Test func deadlinesHoldWhereTheHostIgnoresTheSignal() {
    #expect(Self.outcomes["ignoredAfter"] == ["lua.limit.deadline none before, 0", "0"])
  }

  @Test func theFirstInterruptionEndsTheScript() {
    #expect(Self.outcomes["interruptedOnce"] == ["lua.interrupted", "0"])
  }

  /// The run does not answer to the first one: it is in the host.
  @Test func theSecondInterruptionEndsTheProcess() {
    #expect(Self.outcomes["interruptedTwice"] == ["-\(SIGINT)"])
  }
}
