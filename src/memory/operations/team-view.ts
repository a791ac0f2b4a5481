// A team's task as abilities return it: its context and its objectives.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { objectiveSchema } from '../../entities/team.ts'

export { teamContextSchema, teamTaskSchema } from '../team/context.ts'

export const objectivesSchema = once(() => z.object({ objectives: z.array(objectiveSchema()) }))
