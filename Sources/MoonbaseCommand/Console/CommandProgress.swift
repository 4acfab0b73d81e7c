import MoonbasePlatform

/// The progress of a command's work. It shows a progress bar, and SIGINT cancels it.
final class CommandProgress: Progress, @unchecked Sendable {  // the thread that waits for SIGINT only cancels it
  private static let pause: UInt32 = 20_000
  private let bar: ProgressBar

  init(quiet: Bool) {
    bar = ProgressBar(quiet: quiet)
    super.init(parent: nil, userInfo: nil)
    Interruption.isWaitedFor()
    Thread.detachNewThread { [weak self] in
      while let self {
        if Interruption.hasCome { return self.cancel() }
        usleep(Self.pause)
      }
    }
  }

  override var completedUnitCount: Int64 {
    get { super.completedUnitCount }
    set {
      super.completedUnitCount = newValue
      // A merge policy may create more objects than were counted.
      bar.show(Int(min(newValue, totalUnitCount)), of: Int(totalUnitCount))
    }
  }

  /// Removes the progress bar.
  func end() { bar.end() }
}
