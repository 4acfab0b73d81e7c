import MoonbaseTestSupport
import Testing

/// Passwords of addresses in messages of the command.
@Suite struct HiddenCredentialsTests {
  @Test(arguments: [
    ["info", "postgresql://ann:s3cret@127.0.0.1:1,127.0.0.1:2/shop"],
    ["info", "postgresql://ann:s3/cr@t@127.0.0.1:1/shop"],
    ["info", "postgresql://ann:12/s3cret@127.0.0.1:1/shop"],
    ["info", "postgresql://ann:my s3cret@127.0.0.1:1/shop"],
    ["info", "postgresql://127.0.0.1:1/shop?password=s3cret&connect_timeout=x"],
    ["info", "postgresql://127.0.0.1:1/shop?pass%77ord=s3cret"],
    ["info", "postgres:ann:s3cret@h"],
    ["info", "host=127.0.0.1 dbname=shop password=s3cret"],
    ["info", "host=127.0.0.1 dbname=shop password = 's3 cret'"],
    ["model", "show", "postgresql://ann:s3cret@127.0.0.1:1/shop"],
    ["fetch", "Person", "--store", "Local=postgresql://ann:s3cret@127.0.0.1:1/shop"],
    ["run", "--store", "postgresql://127.0.0.1:1/shop?sslpassword=s3cret", "-e", ""],
    ["run", "postgresql://ann:s3cret@127.0.0.1:1/shop"],
    ["copy", "postgresql://ann:s3cret@127.0.0.1:1/shop", "postgresql://bob:s3cret@127.0.0.1:1/shop"],
  ])
  func noMessageHasAPassword(_ arguments: [String]) throws {
    let refused = try Workbench().moonbase(arguments)
    #expect(refused.status != 0 && !refused.complaints.isEmpty)
    for text in ["s3", "cret", "cr@t"] {
      #expect(!refused.complaints.contains(text) && !refused.output.contains(text), "\(refused)")
    }
  }
}
