// How much of the long tests runs.

/** ERRAND_FULL=1: every point, every case and the largest counts. Otherwise a sample, whose seed each test prints. */
export const isFull = process.env['ERRAND_FULL'] === '1'
