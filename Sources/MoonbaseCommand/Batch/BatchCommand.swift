import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase batch`: the group of commands for resumable jobs.
///
/// The order of use is `run`, then `resume` after an interruption, with `worker` for external
/// scheduling and `status` at any time. `BatchJob` has the mechanism.
struct BatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Runs jobs over many objects that can be resumed wherever they were ended.",
    discussion: """
      A job script returns { request = ..., chunk = function(objects, context, job) ... end }. A chunk is one transaction \
      together with its entry in the store's ledger: killed at any moment and resumed, its effect is there once.
      """,
    subcommands: [BatchRun.self, BatchStatus.self, BatchResume.self, BatchWorker.self, BatchDrop.self])
}

/// The options of commands that work on a job.
struct JobOptionGroup: ParsableArguments {
  @Argument(help: "The script of the job.", completion: .file())
  var script: String

  @Argument(help: "The store (default: that of the project); --store names it too.", completion: .file())
  var store: String?

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Option(help: "The job's name in the store (default: the script's, without its ending).")
  var name: String?

  @Flag(help: "No progress, no summary.")
  var quiet = false

  /// The name of the job in the ledger: `--name`, or the file name without `.lua`.
  var jobName: String {
    if let name { return name }
    let file = script.split(separator: "/").last.map(String.init) ?? script
    return file.hasSuffix(".lua") ? String(file.dropLast(4)) : file
  }

  /// Refuses names that the ledger uses for imports.
  func validate() throws {
    guard jobName != "", !jobName.hasPrefix("import ") else {
      throw ValidationError("--name takes the name of a job, not '\(jobName)'")
    }
  }

  /// Opens the store for writing, with a small cache because each object is visited once.
  func makeContainer() throws -> PersistentContainer {
    var stores = try stores.settings(store)
    stores.cacheSize = StoreSettings.smallCacheSize
    try scripts.settings().requireWriting("batch")
    return try PersistentContainer(scripts.settings().limiting(stores.container, stores))
  }

  /// Makes the job and the Lua state that a worker needs. Each thread has its own.
  ///
  /// The domain must be closed by the caller after its last use.
  func makeJob(_ container: PersistentContainer) throws -> (job: BatchJob, domain: ScriptDomain) {
    let scripts = try scripts.settings()
    let domain = try scripts.openDomain(forScriptsIn: script.folderOfPath, stores.settings(store))
    let source = try ScriptSource(path: script, limit: scripts.limits.sourceSize)
    let batch = try BatchScript(source, in: domain)
    let context = try domain.context(of: container.opened)
    let extensions = try stores.settings(store).extensions
    let code = JobCode(source.text, in: script.folderOfPath, extensions: extensions)
    return (try BatchJob(jobName, batch, code, in: context), domain)
  }
}

/// `moonbase batch run`: begins a job, and works on all of its chunks.
struct BatchRun: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "run", abstract: "Begins a job and works on its chunks.")

  @OptionGroup var options: JobOptionGroup

  @Option(
    help: ArgumentHelp("How many objects a chunk has at most, as far as keys follow each other.", valueName: "objects"))
  var chunk = 1000

  @Option(help: "How many threads work on chunks.")
  var jobs = 1

  @Flag(help: "Only begin the job, and print its chunks, for moonbase batch worker.")
  var begin = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Checks numbers and combinations of options.
  func validate() throws {
    guard (1...1_000_000).contains(chunk) else {
      throw ValidationError("--chunk takes a number from 1 to 1000000, not \(chunk)")
    }
    try JobRun.check(jobs)
    if begin, summary.json { throw ValidationError("--begin prints numbers of chunks: leave --json out") }
    if begin, jobs != 1 { throw ValidationError("--begin works on no chunk: leave --jobs out") }
  }

  /// Begins the job. With `--begin`, only the numbers of the chunks are printed.
  func run() throws {
    let container = try options.makeContainer()
    let (job, domain) = try options.makeJob(container)
    defer { domain.close() }
    let former = try job.state
    let state = try job.begin(chunkSize: chunk)
    if let former, !options.quiet {
      Terminal.complain(
        "moonbase: the job \(job.name) was finished (\(DateForm.iso.text(former.saved))), and is begun anew with all objects"
      )
    }
    guard !begin else {
      for number in 1..<state.chunks + 1 { Terminal.print("\(number)") }
      return
    }
    try JobRun(options, container, jobs: jobs, summary).run(job, state, state.open)
  }
}

/// `moonbase batch resume`: works on the chunks that are not done, including those that were set
/// aside.
struct BatchResume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Works on the chunks of a job that are not done, those that failed too.")

  @OptionGroup var options: JobOptionGroup

  @Option(help: "How many threads work on chunks.")
  var jobs = 1

  @Flag(help: "Go on with a script, or with what it loads, that has changed since the job was begun.")
  var acceptChanges = false

  @OptionGroup var summary: SummaryOptionGroup

  /// Checks the number of threads.
  func validate() throws { try JobRun.check(jobs) }

  /// Resumes the job. A finished job is only reported.
  func run() throws {
    let container = try options.makeContainer()
    let (job, domain) = try options.makeJob(container)
    defer { domain.close() }
    let state = try job.resume(acceptingChanges: acceptChanges)
    guard !state.isFinished else {
      return try summary.tell(
        [
          "job": .string(job.name), "chunks": .count(0), "failed": .count(0), "objects": .count(0),
          "finished": .bool(true), "seconds": .seconds(0),
        ],
        quiet: options.quiet, lines: ["the job \(job.name) is finished: there is nothing to resume"])
    }
    try JobRun(options, container, jobs: jobs, summary).run(job, state, state.done.rest(of: state.chunks))
  }
}

/// `moonbase batch worker`: works on the chunks whose numbers arrive on standard input.
///
/// The answers are JSON objects, one for each chunk. So any scheduler can distribute a job over
/// processes.
struct BatchWorker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker", abstract: "Works on the chunks of a job whose numbers come by standard input.",
    discussion: """
      moonbase batch run --begin job.lua --store s.sqlite | parallel -j4 --pipe -N1 moonbase batch worker job.lua --store s.sqlite
      moonbase batch resume job.lua --store s.sqlite

      A line is a number or a range, as in 17 or 17-20. The answer is an object a line for each chunk. The last command works \
      on what no worker has done, and finishes the job.
      """)

  @OptionGroup var options: JobOptionGroup

  /// Reads lines until the end of the input or an interruption.
  func run() throws {
    let container = try options.makeContainer()
    let (job, domain) = try options.makeJob(container)
    defer { domain.close() }
    // Standard output is kept for the command's answers.
    domain.state.output = LuaOutput({ bytes, _ in StandardStream.error.write(bytes) }, flush: StandardStream.flush)
    let state = try job.resume(acceptingChanges: false)
    Interruption.isWaitedFor()
    let watch = InterruptionWatch()
    defer { watch.end() }
    watch.add(domain.state.interrupter)
    StandardStream.output.setBuffering(.line)
    var (done, failed) = (0, 0)
    do {
      let lines = InputLines(STDIN_FILENO, Interruption.whileWaiting)
      while let line = try lines.next() {
        for chunk in try chunks(of: line, in: state) {
          if Interruption.hasCome { throw GraphError(.interrupted, message: "interrupted") }
          let began = Date()
          let outcome = try job.perform(chunk, state) { Interruption.hasCome }
          if case .failed = outcome { failed += 1 } else { done += 1 }
          Terminal.print(answer(chunk, outcome, Date().timeIntervalSince(began)))
        }
      }
    } catch  where Interruption.hasCome && ExitStatus.status(for: error) == ExitStatus.interrupted {
      let advice = "moonbase batch resume works on what no worker has done"
      throw GraphError(.interrupted, message: "interrupted: \(done.chunks) done, \(failed) failed; \(advice)")
    }
    if failed > 0 { throw ExitCode(ExitStatus.rejects) }
  }

  /// The numbers of the chunks that a line lists.
  ///
  /// Throws `UsageError` for a line that lists no chunks of the job.
  private func chunks(of line: String, in state: JobState) throws -> [Int] {
    if let set = ChunkSet(line.filter { $0 != " " && $0 != "\r" }),
      set.ranges.allSatisfy({ $0.upperBound <= state.chunks })
    {
      return set.ranges.flatMap { $0 }
    }
    let shown = TextLimits.beginning(of: line).unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : $0 }
    throw UsageError(
      "a line is the number of a chunk from 1 to \(state.chunks), or a range as 17-20, not '\(String(String.UnicodeScalarView(shown)))'"
    )
  }

  /// The answer for a chunk as a line of JSON, with its time in seconds.
  private func answer(_ chunk: Int, _ outcome: BatchJob.Outcome, _ seconds: Double) -> String {
    var bytes = Array("{\"chunk\": \(chunk), ".utf8)
    switch outcome {
    case .done(let objects): bytes += Array("\"status\": \"done\", \"objects\": \(objects)".utf8)
    case .doneElsewhere: bytes += Array("\"status\": \"done before\"".utf8)
    case .failed(let reason, let attempts):
      bytes += Array("\"status\": \"failed\", \"attempts\": \(attempts), \"reason\": ".utf8)
      bytes.append(quoted: reason)
    }
    bytes += Array(", \"seconds\": \(String(format: "%.3f", seconds))}".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// `moonbase batch status`: reports the jobs of a store.
struct BatchStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Tells how far the jobs of a store are, and why chunks failed.")

  @Argument(help: ArgumentHelp("The job's name, or its script; without one all jobs.", valueName: "job"))
  var first: String?

  @Argument(
    help: ArgumentHelp(
      "The store, as the last argument (default: that of the project); --store names it too.", valueName: "store"),
    completion: .file())
  var second: String?

  @OptionGroup var stores: StoreOptionGroup
  @OptionGroup var limits: LimitOptionGroup

  @Flag(help: "Print the chunks that are neither done nor set aside, a number a line, for moonbase batch worker.")
  var open = false

  @Flag(help: "Print JSON: a list of jobs.")
  var json = false

  /// The positional arguments, of which the last may be the store.
  private var arguments: ArgumentsBeforeStore {
    ArgumentsBeforeStore([first, second], least: 0, most: 1, isNamed: stores.isNamed)
  }

  /// The name of the job or its script; nil for all jobs.
  private var job: String? { arguments[0] }

  /// Checks combinations of options.
  func validate() throws {
    if open, json { throw ValidationError("--open prints numbers: leave --json out") }
    if open, job == nil { throw ValidationError("--open is about one job: name it") }
  }

  /// Runs the report within the limits of the command.
  func run() throws { try limits.run { _ in try tell() } }

  /// Prints the reports. A damaged entry is reported, and the exit status is then a failure.
  private func tell() throws {
    var settings = try stores.settings(arguments.store)
    settings.readOnly = true
    let container = try PersistentContainer(limits.settings().limiting(settings.container, settings))
    var (count, isDamaged) = (0, false)
    var reports: [JobReport] = []
    var names: [String] = []
    for store in container.coordinator.persistentStores {
      let known = try BatchJob.entries(in: store)
      names += known.map(\.name)
      for (name, entry) in known where job == nil || BatchJob.name(job ?? "", among: [name]) != nil {
        count += 1
        let state: JobState
        do { state = try JobState(entry, of: name) } catch let error as GraphError
          where error.code == .invalidStore
        {
          // The states of the other jobs are printed in any case.
          Terminal.complain("moonbase: \(error)")
          isDamaged = true
          continue
        }
        switch (open, json) {
        case (true, _): state.open.ranges.flatMap { $0 }.forEach { Terminal.print("\($0)") }
        case (_, true): reports.append(JobReport(name, state))
        case (false, false): show(name, state)
        }
      }
    }
    if json, job == nil || count > 0 { Terminal.print(try Terminal.json(reports)) }
    if isDamaged { throw ExitCode(ExitStatus.failed) }
    guard count == 0 else { return }
    guard let job else { return json ? () : Terminal.complain("moonbase: the store knows no jobs") }
    throw UsageError(BatchJob.unknown(job, among: names))
  }

  /// Prints the state of a job for a person.
  private func show(_ name: String, _ state: JobState) {
    let percent = state.chunks == 0 ? 100 : state.done.count * 100 / state.chunks
    let stand = state.isFinished ? "finished" : state.failed.isEmpty ? "under way" : "under way, some chunks failed"
    Terminal.print("\(name): \(stand), \(state.done.count) of \(state.chunks.chunks) done (\(percent) %)")
    let rate = state.seconds > 0.001 ? ", \(Int(Double(state.objects) / state.seconds)) objects/s of a worker" : ""
    Terminal.print("  objects  \(state.objects)\(rate)")
    Terminal.print("  began    \(DateForm.iso.text(state.began))")
    Terminal.print("  last     \(DateForm.iso.text(state.saved))")
    if !state.open.isEmpty, !state.isFinished { Terminal.print("  open     \(state.open)") }
    if !state.failed.isEmpty { Terminal.print("  failed   \(state.failed)") }
    for failure in state.failures {
      let reason = failure.reason.split(separator: "\n").first.map(String.init) ?? ""
      Terminal.print("    \(failure.chunk) (\(failure.attempts) attempts): \(reason)")
    }
  }
}
