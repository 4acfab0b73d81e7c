import MoonbasePlatform
import Testing

/// Signals, each case in its own process, since a signal concerns the whole process.
@Suite(.enabled(if: !Instrument.isThreadSanitizer, "the thread sanitizer does not follow forks"))
struct SignalTests {
  /// The output line of each case, and its exit status or the negated signal that ended it.
  private static let outcomes: [String: [String]] = {
    let lines = (try? HostileRunner.ask(["signals"], [])) ?? []
    return lines.reduce(into: [:]) { all, line in
      let parts = line.components(separatedBy: "\t")
      all[parts[0]] = Array(parts.dropFirst())
    }
  }()

  /// The host's handler receives all signals, including the watchdog's; the count of two is of the host's own signals.
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

  /// The run does not respond to the first signal, since it is in the host.
  @Test func theSecondInterruptionEndsTheProcess() {
    #expect(Self.outcomes["interruptedTwice"] == ["-\(SIGINT)"])
  }
}
