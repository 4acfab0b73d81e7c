import MoonbasePlatform

/// The seconds that `body` took of a processor on this thread, however busy others keep the machine: for tests of how work grows, which no
/// other count of it tells.
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
