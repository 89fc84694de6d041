/** Prints `N passed, N failed, N skipped` as a run's last line; a file that does not load, or holds no test, is a failure. */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const { state } = test.result();
        counts[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
      }
      if (tests === 0 || module.errors().length > 0) counts.failed += 1;
    }
    this.counts = counts;
    process.on('exit', () => {
      console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    });
  }
}
