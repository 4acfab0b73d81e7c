import MoonbaseLua
import MoonbasePlatform

/// A progress bar on standard error if that is a terminal; otherwise without output.
///
/// `moonbase.progress(total, label)` makes one. Within a job there is no terminal; the fraction goes to
/// `ScriptJob.progress` instead, which the waiting script can read. Drawn at most ten times a second.
final class ProgressBox {
  /// The number of steps of the whole work; nil if unknown, which leaves out the bar.
  private let total: Int64?
  private let label: String
  /// Whether standard error is a terminal and no job is running.
  private let isVisible: Bool
  /// The job whose progress is shown.
  private weak var job: ScriptJob?
  private let began = Date()
  /// The steps completed so far, saturating at the greatest integer.
  private var done: Int64 = 0
  /// The moment of the last drawing.
  private var drawn = Date.distantPast

  /// Makes a progress at 0. Nothing is drawn before the first `advance`.
  init(total: Int64?, label: String, isVisible: Bool, of job: ScriptJob? = nil) {
    self.total = total
    self.label = label
    self.isVisible = isVisible
    self.job = job
    tellJob()
  }

  /// Reports the fraction to the job, from 0 to 1. Without a total there is no fraction.
  private func tellJob() {
    guard let job, let total, total > 0 else { return }
    job.progress = min(1, Double(done) / Double(total))
  }

  /// The estimated bytes.
  var weight: Int { 256 + label.utf8.count }

  /// Adds completed steps and redraws if the last drawing is older than 0.1 seconds.
  func advance(_ count: Int64) {
    let (sum, isTooLarge) = done.addingReportingOverflow(count)
    done = isTooLarge ? .max : sum
    tellJob()
    guard isVisible, Date().timeIntervalSince(drawn) > 0.1 else { return }
    draw()
  }

  /// Draws the final state and ends the line.
  func finish() {
    guard isVisible else { return }
    draw()
    StandardStream.error.write("\n")
  }

  /// Overwrites the line on standard error.
  private func draw() {
    drawn = Date()
    let line = ProgressLine(label: label, done: done, total: total, seconds: drawn.timeIntervalSince(began))
    StandardStream.error.write("\r\(line.text)   ")
  }
}

/// The text of a progress bar at a moment.
///
/// For example `rows: 120 of 400 [#########.....................]  60/s`, or `rows: 120  60/s` without a total.
package struct ProgressLine {
  private let label: String
  private let done: Int64
  private let total: Int64?
  private let seconds: Double

  /// A line for the work done in a time.
  package init(label: String, done: Int64, total: Int64?, seconds: Double) {
    self.label = label
    self.done = done
    self.total = total
    self.seconds = seconds
  }

  /// The line. Its layout does not depend on the numbers.
  package var text: String {
    // A rate beyond the range of integers is shown as the greatest integer.
    let rate = Int64(exactly: (Double(done) / max(seconds, 0.001)).rounded()) ?? .max
    return "\(label): \(done)\(bar)  \(rate)/s"
  }

  /// The total and a bar of 30 characters; empty without a total.
  private var bar: String {
    guard let total, total > 0 else { return "" }
    let width = 30
    let filled = Int(Double(width) * min(1, max(0, Double(done) / Double(total))))
    return " of \(total) [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]"
  }
}

extension HostTypes {
  /// Describes `progress:advance(count)`, where the count is 1 if missing and never negative, and `progress:finish()`.
  func describeProgress() {
    progress.method("advance", upTo: 1) { box, call in
      let count = call.isNil(0) ? 1 : try call.integer(0)
      guard count >= 0 else { throw call.argumentError(0, problem: "what is done cannot become less") }
      box.advance(count)
    }
    progress.method("finish", upTo: 0) { box, _ in box.finish() }
  }
}
