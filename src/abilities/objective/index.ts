// The abilities of what a team is to reach, one file each. This list alone puts them on the bus and makes their types known.
import { objectiveAdd } from './add.ts'
import { objectiveLog } from './log.ts'
import { objectiveUpdate } from './update.ts'

export const objectiveAbilities = [objectiveAdd, objectiveLog, objectiveUpdate] as const
