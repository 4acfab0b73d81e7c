import MoonbasePlatform
import Testing

/// Signals, each case in a process of its own, since a signal concerns the whole process.
@Suite(.enabled(if: !Instrument.isThreadSanitizer, "the thread sanitizer does not follow forks"))
struct SignalTests {
  /// The line that each case wrote, and its exit status or minus the signal that ended it.
  private static let outcomes: [String: [String]] = {
    let lines = (try? HostileRunner.ask(["signals"], [])) ?? []
    return lines.reduce(into: [:]) { all, line in
      let parts = line.components(separatedBy: "\t")
      all[parts[0]] = Array(parts.dropFirst())
    }
  }()

  /// The handler of the host gets all signals, those of the watchdog too; it counts the two that the host sends itself.
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

  /// The run does not answer to the first signal, since it is in the host.
  @Test func theSecondInterruptionEndsTheProcess() {
    #expect(Self.outcomes["interruptedTwice"] == ["-\(SIGINT)"])
  }
}
