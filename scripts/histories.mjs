// `npm run test:histories`: a thousand random histories of the lake, or as many of each kind as TAPEHOUSE_HISTORIES says.
process.env.TAPEHOUSE_HISTORIES ??= "500";
process.argv.push("test/store/histories.test.ts");
await import("./test.mjs");
