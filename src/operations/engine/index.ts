// The operations of the engine as a whole, one file each. Their registration and their types derive from this list.
import { engineExecutors } from './executors.ts'
import { engineInstances } from './instances.ts'
import { engineMetrics } from './metrics.ts'
import { engineStatus } from './status.ts'

export const engineOperations = [engineExecutors, engineInstances, engineMetrics, engineStatus] as const
