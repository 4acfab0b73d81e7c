#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// The scripts of `lua/examples/spark`: the driver with a stub of PySpark, and the job array run as by Slurm.
  @Suite struct SparkExampleTests {
    private let bench: Workbench
    private let server: String
    private static let examples = Workbench.checkout.appendingPathComponent("lua/examples/spark").path

    /// A store with 100 readings, and the command as `moonbase` in a folder of the search path.
    init() throws {
      bench = try Workbench()
      server = try PostgreSQLServer.newAddress().absoluteString
      for folder in ["python/pyspark", "bin"] {
        try FileManager.default.createDirectory(at: bench.file(folder), withIntermediateDirectories: true)
      }
      try bench.write(Self.stub, to: "python/pyspark/sql.py")
      try bench.write("", to: "python/pyspark/__init__.py")
      try FileManager.default.createSymbolicLink(
        at: bench.file("bin/moonbase"), withDestinationURL: Workbench.command)
      let code = """
        for i = 1, 100 do moonbase.context:insert("Reading", { sensor = "s" .. i, celsius = i }) end
        assert(moonbase.context:save())
        """
      let made = try bench.moonbase(
        "run", "--store", server, "--model", Self.examples + "/model.lua", "-e", code)
      try #require(made.status == 0, "\(made)")
    }

    /// What the driver needs of PySpark: partitions, of which each `pipe` runs a command with the given environment
    /// alone. The first run of a task fails where the file `fail-once` is there, and Spark runs the task again.
    private static let stub = """
      import os, shlex, subprocess
      class RDD:
          def __init__(self, parts): self.parts = parts
          def pipe(self, command, env=None, checkCode=False):
              def run(part):
                  given = subprocess.run(shlex.split(command), input="".join(line + "\\n" for line in part),
                      env=env or {}, stdout=subprocess.PIPE, text=True)
                  if checkCode and given.returncode:
                      raise SystemExit("Pipe function `%s' exited with error code %d" % (command, given.returncode))
                  return given.stdout.splitlines()
              done = []
              for part in self.parts:
                  if os.path.exists("fail-once"):
                      os.unlink("fail-once")
                      run(part)
                  done.append(run(part))
              return RDD(done)
          def map(self, f): return RDD([[f(x) for x in part] for part in self.parts])
          def reduceByKey(self, f):
              found = {}
              for part in self.parts:
                  for key, value in part: found[key] = f(found[key], value) if key in found else value
              return RDD([list(found.items())])
          def collect(self): return [x for part in self.parts for x in part]
          def saveAsTextFile(self, path):
              os.mkdir(path)
              for number, part in enumerate(self.parts):
                  with open("%s/part-%05d" % (path, number), "w") as file: file.writelines(x + "\\n" for x in part)
      class SparkContext:
          defaultParallelism = 2
          def parallelize(self, items, count): return RDD([items[place::count] for place in range(count)])
          def textFile(self, path):
              lines = open(path).read().splitlines()
              return RDD([lines[:len(lines) // 2], lines[len(lines) // 2:]])
      class SparkSession:
          sparkContext = SparkContext()
          def appName(self, name): return self
          def getOrCreate(self): return self
          def __enter__(self): return self
          def __exit__(self, *error): return False
      SparkSession.builder = SparkSession()
      """

    private func driver(_ arguments: String...) throws -> Workbench.Outcome {
      try run("/usr/bin/python3", [Self.examples + "/driver.py"] + arguments)
    }

    /// Runs a program with the stub and the command in its environment.
    private func run(_ program: String, _ arguments: [String]) throws -> Workbench.Outcome {
      let place = bench.folder.path
      let variables = [
        "PYTHONPATH=\(place)/python", "PATH=\(place)/bin:/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1",
      ]
      return try bench.program("env", variables + [program] + arguments)
    }

    private func levels() throws -> String {
      try bench.moonbase(
        "sql", server, "SELECT level, COUNT(*) n FROM Reading GROUP BY 1 ORDER BY 1", "--format", "csv"
      ).output
    }

    private static let allLevels = "level,n\nhigh,71\nlow,9\nnormal,20\n"

    @Test func theDriverWorksOnEachObjectOnce() throws {
      let driven = try driver(Self.examples + "/job.lua", server, "--chunk", "10")
      #expect(driven.status == 0 && driven.output.contains("done: 10"), "\(driven)")
      #expect(try levels() == Self.allLevels)
      let again = try driver(Self.examples + "/job.lua", server, "--resume")
      #expect(again.status == 0 && !again.output.contains("done:"), "\(again)")
    }

    @Test func aTaskThatRunsTwiceIsAnsweredByTheLedger() throws {
      try bench.write("", to: "fail-once")
      let driven = try driver(Self.examples + "/job.lua", server, "--chunk", "10")
      #expect(driven.status == 0 && driven.output.contains("done before: "), "\(driven)")
      #expect(try levels() == Self.allLevels)
    }

    @Test func aWorkerThatFailsEndsTheDriver() throws {
      try bench.write(
        "return { request = 'Reading', chunk = function() error('no') end }", to: "bad.lua")
      let driven = try driver("bad.lua", server, "--chunk", "50")
      #expect(driven.status != 0 && driven.complaints.contains("exited with error code 4"), "\(driven)")
    }

    @Test func linesAreTransformedWithoutAStore() throws {
      let lines = (1...40).map { "{\"sensor\": \"s\($0)\", \"celsius\": \($0)}" }.joined(separator: "\n")
      try bench.write(lines + "\n", to: "in.ndjson")
      let driven = try driver(
        "--lines", Self.examples + "/lines.lua", "--model", Self.examples + "/model.lua", "in.ndjson", "out")
      #expect(driven.status == 0, "\(driven)")
      let written = try ["out/part-00000", "out/part-00001"].map {
        String(decoding: try bench.bytes(of: $0), as: UTF8.self)
      }
      .joined().split(separator: "\n")
      #expect(written.count == 40 && written.filter { $0.contains("\"low\"") }.count == 9, "\(written)")
      try bench.write("{\"sensor\": \"s\"}\n", to: "bad.ndjson")
      let refused = try driver(
        "--lines", Self.examples + "/lines.lua", "--model", Self.examples + "/model.lua", "bad.ndjson", "none")
      #expect(refused.status != 0 && refused.complaints.contains("celsius"), "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: bench.file("none").path))
    }

    /// Slurm starts one task again, which has done its chunks already.
    @Test func tasksOfAnArrayShareTheChunks() throws {
      let begun = try bench.moonbase(
        "batch", "run", "--begin", Self.examples + "/job.lua", "--store", server, "--chunk", "10")
      try #require(begun.status == 0, "\(begun)")
      try bench.write(begun.output, to: "chunks.txt")
      var answers: [String] = []
      for task in ["0", "1", "2", "1"] {
        let done = try run(
          "SLURM_ARRAY_TASK_ID=\(task)",
          ["TASKS=3", "sh", Self.examples + "/array.sh", Self.examples + "/job.lua", server])
        #expect(done.status == 0, "\(done)")
        answers += done.output.split(separator: "\n").map(String.init)
      }
      #expect(answers.count == 14 && answers.filter { $0.contains("done before") }.count == 4, "\(answers)")
      #expect(try levels() == Self.allLevels)
      let finished = try bench.moonbase("batch", "resume", Self.examples + "/job.lua", "--store", server)
      #expect(finished.status == 0, "\(finished)")
    }
  }
#endif
