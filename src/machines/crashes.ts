// Decides which tasks a crash is charged to. Pure. A crash ends every run in the process, so the other runs must not be blamed for
// the one that caused it.

/** A live run at the time when its engine is lost. */
export interface CrashFacts {
  /** Consecutive crashes that its task has been charged with before. */
  crashes: number
  callInFlight: boolean
  /** The run had recorded an outcome or a message. */
  progressed: boolean
}

/** Consecutive crashes from which a task is a suspect. An engine runs at most one suspect at a time, and from `maxCrashes` on alone. */
export function suspectFrom(maxCrashes: number): number {
  return Math.min(2, maxCrashes)
}

/** For each live run, whether the crash is charged to its task: to suspects only, else to runs with a call in flight, else to all. */
export function chargedBy(runs: readonly CrashFacts[], maxCrashes: number): boolean[] {
  const isSuspect = (run: CrashFacts): boolean => run.crashes >= suspectFrom(maxCrashes) && !run.progressed
  for (const picks of [isSuspect, (run: CrashFacts): boolean => run.callInFlight]) {
    if (runs.some(picks)) return runs.map(picks)
  }
  return runs.map(() => true)
}
