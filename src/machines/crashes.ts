// Which tasks a crash is charged to. Pure. A process that dies takes every run in it along, so neighbours of a task that kills
// processes must not be taken for it.

/** What is known of a live run when its engine is lost. */
export interface CrashFacts {
  /** Crashes in a row that its task has been charged with before. */
  crashes: number
  callInFlight: boolean
  /** It had recorded an outcome or a message. */
  progressed: boolean
}

/** From so many crashes in a row a task is a suspect: at most one suspect runs in an engine at a time, from `maxCrashes` on alone. */
export function suspectFrom(maxCrashes: number): number {
  return Math.min(2, maxCrashes)
}

/** For each live run, whether the crash is charged to its task: to the suspect alone, else to what had a call in flight, else to all. */
export function chargedBy(runs: readonly CrashFacts[], maxCrashes: number): boolean[] {
  const isSuspect = (run: CrashFacts): boolean => run.crashes >= suspectFrom(maxCrashes) && !run.progressed
  for (const picks of [isSuspect, (run: CrashFacts): boolean => run.callInFlight]) {
    if (runs.some(picks)) return runs.map(picks)
  }
  return runs.map(() => true)
}
