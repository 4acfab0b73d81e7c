// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    // Without the packages that only the command needs.
    .package(name: "Moonbase", path: "..", traits: []),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .executableTarget(
      name: "Bookshelf",
      dependencies: [
        .product(name: "Moonbase", package: "Moonbase"), .product(name: "FlyingFox", package: "FlyingFox"),
      ],
      plugins: [.plugin(name: "MoonbaseModelPlugin", package: "Moonbase")])
  ]
)
