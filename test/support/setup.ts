// Runs before each test file: registers what is cleaned up after its tests and after the file.
import { afterAll, afterEach } from "vitest";
import { cleanUp } from "./folders.js";
import { endAll } from "./processes.js";

afterEach(endAll);

// A disk that others use as well may need its time.
afterAll(cleanUp, 600_000);
