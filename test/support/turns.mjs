// Loaded into a worker before it starts, with `NODE_OPTIONS=--import=…`: SIGUSR2 makes it take one turn of its event
// loop that needs a second of processor time, SIGWINCH one that never ends.
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

if (process.env.TAPEHOUSE_ROLE === "worker") {
  process.on("SIGUSR2", () => {
    const end = used() + 1_000;
    while (used() < end);
  });
  process.on("SIGWINCH", () => {
    for (;;);
  });
}
