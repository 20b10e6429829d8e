// The charts as the page loads them: the build copies the package beside this file.
export * from "lightweight-charts";
