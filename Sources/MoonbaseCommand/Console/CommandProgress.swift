import MoonbasePlatform

/// The progress of a command's work. It shows a progress bar, and SIGINT cancels it.
///
/// The graph reports progress through `Progress` of Foundation. The object is used on the thread of
/// the command; a second thread polls for SIGINT until the object is released.
final class CommandProgress: Progress, @unchecked Sendable {  // the thread that waits for SIGINT only cancels it
  /// The interval between two checks for SIGINT, in microseconds.
  private static let pause: UInt32 = 20_000
  /// The bar on standard error.
  private let bar: ProgressBar

  /// A progress that shows a bar unless `quiet` is true.
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

  /// The number of units done. Setting it updates the bar.
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
