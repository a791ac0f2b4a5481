// task:teams: the tasks with teams, latest first.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import { filterByStatus, statusFilterSchema } from '../../entities/status-filter.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { refuseTasks } from '../../operations/own-tasks.ts'
import { listTeams } from '../team/teams.ts'
import { limitSchema, offsetSchema } from './agent-input.ts'
import { defineMemoryOperation } from './memory-ability-host.ts'
import { teamTaskSchema } from './team-view.ts'

const inputSchema = once(() =>
  z.strictObject({
    status: statusFilterSchema.optional(),
    type: z.string().trim().min(1).max(100).optional().describe('Only tasks of this type of work.'),
    limit: limitSchema().default(20),
    offset: offsetSchema().default(0),
  }),
)

/** Spans all tasks, so it is reserved for people and programs. */
export const taskTeams = defineMemoryOperation({
  id: 'task:teams',
  access: 'read',
  description: 'Lists the tasks with teams, latest first, optionally by status and type of work.',
  input: () => eitherCase(inputSchema(), { taskType: 'type' }),
  output: () => z.object({ tasks: z.array(teamTaskSchema()) }),
  models: false,
  async handle({ status, ...query }, { caller }, host) {
    refuseTasks(caller, 'task:teams')
    return { tasks: await listTeams(host, { statuses: status && filterByStatus(status).statuses, ...query }) }
  },
})
