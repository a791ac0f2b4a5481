// The abilities of the engine as a whole, one file each. This list alone puts them on the bus and makes their types known.
import { engineMachines } from './machines.ts'
import { engineStatus } from './status.ts'

export const engineAbilities = [engineMachines, engineStatus] as const
