// What differs between the fast tests and the long ones, and how a failed random run is repeated: it prints its seed and path, and ERRAND_SEED and
// ERRAND_PATH run it again.

/** True in the long tests, which try all of what the fast ones try some of. */
export const isLong = process.env['ERRAND_TIER'] === 'long'

/** How often a random test runs: ERRAND_RUNS, or `few` times in the fast tests and `many` in the long ones. */
export const runs = (few: number, many: number): number => Number(process.env['ERRAND_RUNS'] ?? (isLong ? many : few))

/** The options of fast-check that repeat a failed run; empty without ERRAND_SEED and ERRAND_PATH. */
export const replayed = {
  ...(process.env['ERRAND_SEED'] === undefined ? {} : { seed: Number(process.env['ERRAND_SEED']) }),
  ...(process.env['ERRAND_PATH'] === undefined ? {} : { path: process.env['ERRAND_PATH'], endOnFailure: true }),
}
