import MoonbasePlatform

/// The processor seconds of `body` on this thread, independent of other load: for tests of growth where no other
/// measure exists.
public func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
  let began = threadSeconds
  try body()
  return threadSeconds - began
}

private var threadSeconds: Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
